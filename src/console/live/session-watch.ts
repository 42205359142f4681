import type { SessionPrincipal } from '../../contract/principal.ts'
import type { Database } from '../../database/database.ts'
import { findCurrentSessions } from '../../identity/session-store.ts'
import type { Logger } from '../../runtime/logger.ts'
import { repeat, type Repeating } from '../../runtime/repeating.ts'
import type { Service } from '../../runtime/service.ts'
import type { Time } from '../../runtime/time.ts'

/** Something that is open as long as its session is what it was. */
interface Watched {
  readonly principal: SessionPrincipal
  readonly end: () => void
}

export interface SessionWatch extends Service {
  /** `end` is called within 1 s after the session was ended, or its role or organization changed (D18). */
  readonly add: (watched: Watched) => () => void
}

const checkMs = 400

/** Ends what is open of a session that is over. Nothing of it is a use of the session. */
export const createSessionWatch = ({
  database,
  time,
  logger,
}: {
  readonly database: Database
  readonly time: Time
  readonly logger: Logger
}): SessionWatch => {
  const watched = new Set<Watched>()
  let loop: Repeating | undefined

  const endUnknown = async (): Promise<void> => {
    if (watched.size === 0) return
    const ids = new Set([...watched].map(({ principal }) => principal.sessionId))
    const asked = [...watched]
    const current = await findCurrentSessions(database, [...ids])
    const isCurrent = ({ sessionId, organizationId, role }: SessionPrincipal): boolean =>
      current.some(
        (each) =>
          each.id === sessionId && each.organization_id === organizationId && each.role === role,
      )
    for (const each of asked) if (!isCurrent(each.principal)) each.end()
  }

  return {
    add: (each) => {
      watched.add(each)
      return () => void watched.delete(each)
    },
    start: async () => {
      loop ??= repeat({
        name: 'open sessions',
        intervalMs: checkMs,
        work: endUnknown,
        time,
        logger,
      })
    },
    stop: async () => loop?.stop(),
  }
}
