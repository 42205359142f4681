import type { IncomingMessage } from 'node:http'
import { ApiError } from '../../contract/api-error.ts'

/** Where one large body is put together: as large as a body may be, and used again for the next. */
export interface BodyPlace {
  readonly buffer: Buffer
  /** How much of the body is there. */
  filled: number
}

export interface BodyPlaces {
  /** Waits until a place is free. Rejects with 429 where too many wait or it took too long. */
  take(request: IncomingMessage, organizationId: string, cut: (error: ApiError) => void): Taking
  /** Gives back what this request has, or stops its waiting. Safe for one that has nothing. */
  release(request: IncomingMessage): void
}

/** At once where one is free: most bodies never wait. */
type Taking = BodyPlace | Promise<BodyPlace>

export interface PlaceLimits {
  readonly placeBytes: number
  readonly places: number
  readonly ofOrganization: number
  /** Each of them may hold a read of its socket in memory. */
  readonly waiting: number
  readonly waitingOfOrganization: number
  readonly maxWaitMs: number
  readonly checkMs: number
}

/** 16 MiB in all. The other half is left to the others, whatever one organization sends. */
const defaultLimits: Omit<PlaceLimits, 'placeBytes'> = {
  places: 16,
  ofOrganization: 8,
  waiting: 192,
  waitingOfOrganization: 128,
  maxWaitMs: 10_000,
  checkMs: 1_000,
}

/** While others wait, a body that comes slower than this gives its place up. */
const leastBytesPerCheck = 64 * 1024
const retryAfterSeconds = 1

interface Holder {
  readonly organizationId: string
  readonly place: BodyPlace
  readonly cut: (error: ApiError) => void
  /** What was there when it was last looked at, `undefined` before. */
  seenBytes: number | undefined
}

interface Waiter {
  readonly organizationId: string
  readonly give: (place: BodyPlace) => void
  readonly cut: (error: ApiError) => void
  readonly timer: NodeJS.Timeout
}

/**
 * Bounds what large bodies cost, on their way and while their requests run: there are so many places and no more, and
 * whoever gets none is not read on. A free place goes to the organization that has the fewest, there to the one that
 * waits longest. A body that hardly moves, or a request that never ends, keeps no place that another one waits for.
 */
export const createBodyPlaces = (
  placeBytes: number,
  changed: Partial<PlaceLimits> = {},
): BodyPlaces => {
  const limits: PlaceLimits = { placeBytes, ...defaultLimits, ...changed }
  const free: Buffer[] = []
  const holders = new Map<IncomingMessage, Holder>()
  // Insertion order is the order of arrival.
  const waiters = new Map<IncomingMessage, Waiter>()
  let checking: NodeJS.Timeout | undefined

  const countOf = (entries: Iterable<{ readonly organizationId: string }>, id: string): number => {
    let count = 0
    for (const { organizationId } of entries) if (organizationId === id) count += 1
    return count
  }
  const hold = (
    request: IncomingMessage,
    { organizationId, cut }: Pick<Holder, 'organizationId' | 'cut'>,
  ): BodyPlace => {
    const place = { buffer: free.pop() ?? Buffer.allocUnsafeSlow(limits.placeBytes), filled: 0 }
    holders.set(request, { organizationId, place, cut, seenBytes: undefined })
    return place
  }
  const hasRoomFor = (organizationId: string): boolean =>
    holders.size < limits.places &&
    countOf(holders.values(), organizationId) < limits.ofOrganization

  const stopWaiting = (request: IncomingMessage): void => {
    clearTimeout(waiters.get(request)?.timer)
    waiters.delete(request)
    if (waiters.size > 0) return
    clearInterval(checking)
    checking = undefined
  }
  /** Whose turn it is: of those that may have a place, the first of the organization with the fewest. */
  const nextWaiter = (): [IncomingMessage, Waiter] | undefined => {
    let found: [IncomingMessage, Waiter] | undefined
    let fewest = limits.ofOrganization
    const seen = new Set<string>()
    for (const entry of waiters) {
      const { organizationId } = entry[1]
      if (seen.has(organizationId)) continue
      seen.add(organizationId)
      const count = countOf(holders.values(), organizationId)
      if (count < fewest) [fewest, found] = [count, entry]
    }
    return found
  }
  const giveFree = (): void => {
    while (holders.size < limits.places) {
      const next = nextWaiter()
      if (!next) return
      const [request, waiter] = next
      stopWaiting(request)
      waiter.give(hold(request, waiter))
    }
  }
  const release = (request: IncomingMessage): void => {
    stopWaiting(request)
    const holder = holders.get(request)
    if (!holder) return
    holders.delete(request)
    free.push(holder.place.buffer)
    giveFree()
  }
  const cutSlow = (): void => {
    const waiting = new Set([...waiters.values()].map(({ organizationId }) => organizationId))
    const isFull = holders.size >= limits.places
    for (const [request, holder] of holders) {
      const { organizationId, place, seenBytes } = holder
      const isSlow =
        !request.complete &&
        seenBytes !== undefined &&
        place.filled - seenBytes < leastBytesPerCheck
      holder.seenBytes = place.filled
      // Others may wait for places of their own organization alone.
      if (!isSlow || !(isFull || waiting.has(organizationId))) continue
      holder.cut(tooMany('This body came too slowly while others waited.'))
      release(request)
    }
  }

  const wait = (
    request: IncomingMessage,
    organizationId: string,
    cut: (error: ApiError) => void,
  ): Promise<BodyPlace> => {
    const isFull =
      waiters.size >= limits.waiting ||
      countOf(waiters.values(), organizationId) >= limits.waitingOfOrganization
    if (isFull) return Promise.reject(tooMany('Too many large bodies are sent at once.'))
    return new Promise((give, reject) => {
      const timer = setTimeout(() => {
        stopWaiting(request)
        reject(tooMany('Too many large bodies are sent at once.'))
      }, limits.maxWaitMs)
      waiters.set(request, { organizationId, give, cut, timer })
      checking ??= setInterval(cutSlow, limits.checkMs).unref()
    })
  }

  return {
    take: (request, organizationId, cut) =>
      hasRoomFor(organizationId)
        ? hold(request, { organizationId, cut })
        : wait(request, organizationId, cut),
    release,
  }
}

const tooMany = (message: string): ApiError =>
  new ApiError('rate_limit_exceeded', `${message} Retry shortly.`, undefined, { retryAfterSeconds })
