import type { OrganizationId } from '../../contract/organization-id.ts'
import type { SessionPrincipal } from '../../contract/principal.ts'
import type { Database } from '../../database/database.ts'
import { findCurrentSessions } from '../../identity/session-store.ts'
import type { Logger } from '../../runtime/logger.ts'
import { repeat, type Repeating } from '../../runtime/repeating.ts'
import type { Service } from '../../runtime/service.ts'
import type { Time } from '../../runtime/time.ts'
import { createChanges, type Change } from './changes.ts'

/** A browser that is told of changes. */
interface Follower {
  readonly principal: SessionPrincipal
  readonly lastEventId: string | undefined
  readonly send: (event: { id: string; event: string; data: unknown }) => void
  readonly end: () => void
}

interface Watched {
  readonly changes: ReturnType<typeof createChanges>
  readonly followers: Set<Follower>
  hasLooked: boolean
  leftAtMs: number
}

/** A session that was ended loses its stream within 1 s (D18). */
const sessionCheckMs = 400
const lookMs = 500
/** How long an organization is watched that no browser follows any more: for those that connect again. */
const keepMs = 60_000

/** Tells browsers what changes in their organization, as long as their session is one of it. */
export const createChangeFeed = ({
  database,
  time,
  logger,
}: {
  readonly database: Database
  readonly time: Time
  readonly logger: Logger
}): Service & { readonly follow: (follower: Follower) => () => void } => {
  const watched = new Map<OrganizationId, Watched>()
  let loops: readonly Repeating[] = []

  const watch = (organizationId: OrganizationId): Watched => {
    const known = watched.get(organizationId)
    if (known) return known
    const changes = createChanges(organizationId)
    const made: Watched = { changes, followers: new Set(), hasLooked: false, leftAtMs: 0 }
    watched.set(organizationId, made)
    return made
  }

  const look = async (): Promise<void> => {
    for (const [organizationId, each] of watched) {
      if (each.followers.size === 0 && time.monotonicMs() - each.leftAtMs > keepMs) {
        watched.delete(organizationId)
        continue
      }
      const changes = await each.changes.look(database)
      if (!each.hasLooked) for (const follower of each.followers) reset(follower, each)
      each.hasLooked = true
      for (const follower of each.followers) for (const change of changes) tell(follower, change)
    }
  }

  const endUnknown = async (): Promise<void> => {
    const followers = [...watched.values()].flatMap((each) => [...each.followers])
    if (followers.length === 0) return
    const ids = new Set(followers.map(({ principal }) => principal.sessionId))
    const current = await findCurrentSessions(database, [...ids])
    const isCurrent = ({ sessionId, organizationId, role }: SessionPrincipal): boolean =>
      current.some(
        (each) =>
          each.id === sessionId && each.organization_id === organizationId && each.role === role,
      )
    for (const follower of followers) if (!isCurrent(follower.principal)) follower.end()
  }

  const loop = (name: string, intervalMs: number, work: () => Promise<void>): Repeating =>
    repeat({ name, intervalMs, work, time, logger })

  return {
    follow: (follower) => {
      const each = watch(follower.principal.organizationId)
      each.followers.add(follower)
      greet(follower, each)
      return () => {
        each.followers.delete(follower)
        each.leftAtMs = time.monotonicMs()
      }
    },
    start: async () => {
      loops = [loop('changes', lookMs, look), loop('stream sessions', sessionCheckMs, endUnknown)]
    },
    stop: async () => {
      await Promise.all(loops.map((each) => each.stop()))
    },
  }
}

/** What it missed, or that everything is to be asked again; before the first look nothing is known, and that tells it. */
const greet = (follower: Follower, { changes, hasLooked }: Watched): void => {
  if (!hasLooked) return
  const { lastEventId } = follower
  if (lastEventId === undefined)
    return follower.send({ id: changes.position(), event: 'position', data: {} })
  const missed = changes.since(lastEventId)
  if (!missed) return reset(follower, { changes })
  for (const change of missed) tell(follower, change)
}

const reset = (follower: Follower, { changes }: Pick<Watched, 'changes'>): void =>
  follower.send({ id: changes.position(), event: 'reset', data: {} })

const tell = (follower: Follower, { id, kind, target }: Change): void =>
  follower.send({ id, event: 'change', data: { kind, id: target } })
