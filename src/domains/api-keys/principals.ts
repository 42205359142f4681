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

/** Payload: the id of a revoked key. Only a hint; without it entries expire by age. */
export const apiKeysChannel = 'outdial_api_keys'

/**
 * Revocation takes effect within a second even without a notification (D12): an entry's age counts from its query's
 * start.
 */
const maxAgeMs = 900
const maxEntries = 10_000

/**
 * Looks a key up by the SHA-256 of its text; unknown keys are `undefined`, revoked ones are not. Returns no promise
 * if the result is in memory. `isHeldUp`, called when needed, reports that too many invented keys came from the
 * same client: then an unknown key gets no look-up of its own.
 */
export type FindPrincipal = (
  keyHash: Buffer,
  isHeldUp?: () => boolean,
) => FoundKey | undefined | Promise<FoundKey | undefined>

export interface Principals extends Service {
  readonly findPrincipal: FindPrincipal
  /** Writes the recorded uses. */
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

/** Finds the principal of a key, from memory while the entry is young, and records when keys were used. */
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
    // Only successes are cached: a failure is tried again, and invented keys fill no memory.
    reading.then((principal) => {
      if (principal) entry.principal = principal
      else forget()
    }, forget)
    entries.set(key, entry)
    return reading
  }

  const readStranger = async (hash: Buffer, key: string, isHeldUp: boolean) => {
    if (!(await strangers.exists(key, isHeldUp))) return undefined
    // Other waiters of the same look-up may have begun to read.
    return entries.get(key)?.principal ?? read(hash, key)
  }

  const note = (principal: FoundKey | undefined): FoundKey | undefined => {
    if (principal) uses.note(principal)
    return principal
  }

  // For any change, reading all keys again costs one query each and happens only when an administrator acts.
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
