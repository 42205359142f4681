import type { Database } from '../../database/database.ts'
import type { Clock } from '../../runtime/time.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Service } from '../../runtime/service.ts'
import { BoundedMap } from '../../runtime/bounded-map.ts'
import { whenKnown } from '../../runtime/when-known.ts'
import { organizationsChannel } from '../organizations/set-organization.ts'
import { KeyUses } from './key-uses.ts'
import { readPrincipal, type FoundKey } from './principal-store.ts'
import { createStrangerKeys } from './stranger-keys.ts'

/** Payload: the id of a key that was revoked. A hint only; entries die of age without it. */
export const apiKeysChannel = 'outdial_api_keys'

/** Revocation acts within a second although no notification arrives (D12): an entry is as old as its query's start. */
const maxAgeMs = 900
const maxEntries = 10_000

/**
 * Looks a key up by the SHA-256 of its text; unknown keys are `undefined`, revoked ones are not. No promise where the
 * answer is in memory. `isHeldUp` tells, where it is asked, that too many invented keys came from the same client: then a
 * key that is not known costs no look-up of its own.
 */
export type FindPrincipal = (
  keyHash: Buffer,
  isHeldUp?: () => boolean,
) => FoundKey | undefined | Promise<FoundKey | undefined>

export interface Principals extends Service {
  readonly findPrincipal: FindPrincipal
  /** Writes the uses noted so far. */
  flush(): Promise<void>
}

interface PrincipalsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly logger: Logger
}

interface Entry {
  /** A promise until it is read. */
  principal: FoundKey | Promise<FoundKey | undefined>
}

/** Finds out who a key speaks for, from memory while the answer is young, and notes when keys were used. */
export const createPrincipals = (options: PrincipalsOptions): Principals => {
  const { database, clock } = options
  const entries = new BoundedMap<string, Entry>({
    maxSize: maxEntries,
    age: { maxMs: maxAgeMs, clock },
  })
  const strangers = createStrangerKeys(database, clock)
  const uses = new KeyUses(options)
  const subscriptions: { stop(): Promise<void> }[] = []
  let isStarted = false

  const read = (hash: Buffer, key: string): Promise<FoundKey | undefined> => {
    const reading = readPrincipal(database, hash)
    const entry: Entry = { principal: reading }
    const forget = (): void => {
      if (entries.get(key) === entry) entries.delete(key)
    }
    // Only what is known is kept: a failure is tried again, and made-up keys fill no memory.
    reading.then((principal) => {
      if (principal) entry.principal = principal
      else forget()
    }, forget)
    entries.set(key, entry)
    return reading
  }

  const readStranger = async (hash: Buffer, key: string, isHeldUp: boolean) => {
    if (!(await strangers.exists(key, isHeldUp))) return undefined
    // Others who waited for the same look-up may have begun to read.
    return entries.get(key)?.principal ?? read(hash, key)
  }

  const note = (principal: FoundKey | undefined): FoundKey | undefined => {
    if (principal) uses.note(principal)
    return principal
  }

  // Whatever was changed, reading everybody again costs one query each and happens when an administrator acts.
  const forgetAll = (): void => entries.clear()

  return {
    findPrincipal(keyHash, isHeldUp = () => false) {
      const key = keyHash.toString('latin1')
      const entry = entries.get(key)
      if (entry) return whenKnown(entry.principal, note)
      if (strangers.isKnown(key)) return read(keyHash, key).then(note)
      return readStranger(keyHash, key, isHeldUp()).then(note)
    },
    flush: () => uses.flush(),
    async start() {
      if (isStarted) return
      isStarted = true
      uses.start()
      await strangers.load()
      subscriptions.push(
        await database.listen(apiKeysChannel, forgetAll),
        await database.listen(organizationsChannel, forgetAll),
      )
    },
    async stop() {
      isStarted = false
      await Promise.all(subscriptions.splice(0).map((subscription) => subscription.stop()))
      await uses.stop()
    },
  }
}
