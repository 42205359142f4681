import type { Queryable } from '../../database/database.ts'
import { installationSecrets } from './installation-secrets.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Service } from '../../runtime/service.ts'
import type { SigningKey } from '../../storage/signed-url.ts'

/** The secrets of download URLs on this node. */
export interface SigningKeys extends Service {
  /** The newest one that every node knows by now. */
  readonly signing: SigningKey
  /** Those whose URLs may still be valid. */
  readonly all: readonly SigningKey[]
}

/** A third of the time that a new secret waits before it signs, so that one reload may fail. */
const lookEveryMs = 3_000

/** Loads secrets that were added or retired, so that a rotation needs no restart. Throws without a database. */
export const openSigningKeys = async (db: Queryable, logger: Logger): Promise<SigningKeys> => {
  let keys = await installationSecrets(db, 'media')
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined

  const look = async (): Promise<void> => {
    try {
      keys = await installationSecrets(db, 'media')
    } catch (error) {
      // The loaded secrets stay in use; a missing database has more serious symptoms.
      logger.debug({ err: error }, 'the secrets of download URLs could not be looked up')
    }
  }

  return {
    get signing() {
      return keys.find(({ isSettled }) => isSettled) ?? keys.at(-1) ?? keys[0]
    },
    get all() {
      return keys
    },
    start: async () => {
      timer ??= setInterval(() => {
        looking = look()
      }, lookEveryMs)
    },
    stop: async () => {
      clearInterval(timer)
      timer = undefined
      await looking
    },
  }
}
