import { ApiError } from '../../contract/api-error.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { SessionPrincipal } from '../../contract/principal.ts'
import type { Database } from '../../database/database.ts'
import { isUuid } from '../../runtime/ids.ts'
import type { Logger } from '../../runtime/logger.ts'
import { repeat, type Repeating } from '../../runtime/repeating.ts'
import type { Service } from '../../runtime/service.ts'
import type { Time } from '../../runtime/time.ts'
import { maskForViewers } from '../mask.ts'
import { createChanges, type Change, type Kind } from './changes.ts'
import type { SessionWatch } from './session-watch.ts'
import { createWordsFeed, type WatchedCalls, type WordsSource } from './words-feed.ts'

/** A browser that is told of changes. */
interface Follower {
  readonly principal: SessionPrincipal
  readonly lastEventId: string | undefined
  /** Whose words it reads: `all`, or ids of calls with commas between. */
  readonly words: string | undefined
  readonly send: (event: StreamedEvent) => void
  readonly end: () => void
}

interface StreamedEvent {
  /** Of changes only: words that were missed are read in the transcript. */
  readonly id?: string
  readonly event: string
  readonly data: unknown
}

interface Watched {
  readonly changes: ReturnType<typeof createChanges>
  readonly words: ReturnType<typeof createWordsFeed>
  readonly followers: Set<Follower>
  hasLooked: boolean
  leftAtMs: number
}

const lookMs = 500
/** How long words are gathered: a word takes twice as long to say. */
const wordsMs = 100
/** How long an organization is watched that no browser follows any more: for those that connect again. */
const keepMs = 60_000
/** Calls that one browser watches by their ids. */
const maxWatchedCalls = 20

interface ChangeFeed extends Service {
  readonly follow: (follower: Follower) => () => void
  /** A page of the organization shows it: followers are told of its changes whatever its age. */
  readonly show: (organizationId: OrganizationId, kind: Kind, id: string) => void
}

/** Tells browsers what changes in their organization, as long as their session is one of it. */
export const createChangeFeed = ({
  database,
  sessions,
  words,
  time,
  logger,
}: {
  readonly database: Database
  readonly sessions: Pick<SessionWatch, 'add'>
  readonly words: WordsSource
  readonly time: Time
  readonly logger: Logger
}): ChangeFeed => {
  const watched = new Map<OrganizationId, Watched>()
  let loops: readonly Repeating[] = []

  const watch = (organizationId: OrganizationId): Watched => {
    const known = watched.get(organizationId)
    if (known) return known
    const made: Watched = {
      changes: createChanges(organizationId),
      words: createWordsFeed(organizationId, database, words),
      followers: new Set(),
      hasLooked: false,
      leftAtMs: time.monotonicMs(),
    }
    watched.set(organizationId, made)
    return made
  }

  const look = async (): Promise<void> => {
    for (const [organizationId, each] of watched) {
      if (each.followers.size === 0 && time.monotonicMs() - each.leftAtMs > keepMs) {
        watched.delete(organizationId)
        continue
      }
      const changes = await each.changes.look(database, time.monotonicMs())
      if (!each.hasLooked) for (const follower of each.followers) reset(follower, each)
      each.hasLooked = true
      for (const follower of each.followers) for (const change of changes) tell(follower, change)
      const calls = changes.filter(({ kind }) => kind === 'call').map(({ target }) => target)
      await each.words.look(calls)
    }
  }

  const flushWords = async (): Promise<void> => {
    for (const each of watched.values()) each.words.flush()
  }

  const loop = (name: string, intervalMs: number, work: () => Promise<void>): Repeating =>
    repeat({ name, intervalMs, work, time, logger })

  return {
    follow: (follower) => {
      const watches = watchedCallsOf(follower.words)
      const each = watch(follower.principal.organizationId)
      const stopWatching = sessions.add(follower)
      const stopReading =
        watches &&
        each.words.add({
          watches,
          send: (calls) =>
            follower.send({
              event: 'words',
              data: maskForViewers(follower.principal, { calls }),
            }),
        })
      each.followers.add(follower)
      greet(follower, each)
      return () => {
        stopWatching()
        stopReading?.()
        each.followers.delete(follower)
        each.leftAtMs = time.monotonicMs()
      }
    },
    // The page's own stream may come later than what it reads.
    show: (organizationId, kind, id) =>
      watch(organizationId).changes.show(kind, id, time.monotonicMs()),
    start: async () => {
      loops = [loop('changes', lookMs, look), loop('words', wordsMs, flushWords)]
    },
    stop: async () => {
      await Promise.all(loops.map((each) => each.stop()))
    },
  }
}

/** Throws 400 for what names no calls. */
const watchedCallsOf = (words: string | undefined): WatchedCalls | undefined => {
  if (words === undefined || words === 'all') return words
  const ids = words.split(',', maxWatchedCalls + 1)
  if (ids.length <= maxWatchedCalls && ids.every(isUuid)) return new Set(ids)
  throw new ApiError('validation_error', `words is “all” or at most ${maxWatchedCalls} call ids.`, {
    fields: [{ path: 'words', code: 'invalid_format' }],
  })
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

const tell = (follower: Follower, { id, kind, target, isOnlyWords }: Change): void =>
  follower.send({
    id,
    event: 'change',
    data: { kind, id: target, ...(isOnlyWords && { only: 'words' }) },
  })
