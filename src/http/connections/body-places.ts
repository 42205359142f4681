import type { IncomingMessage } from 'node:http'
import { ApiError } from '../../contract/api-error.ts'

/** A buffer for one large body: of the maximum size, and reused for the next. */
export interface BodyPlace {
  readonly buffer: Buffer
  /** How much of the body has arrived. */
  filled: number
}

/** At once if one is free: most bodies never wait. */
type Taking = BodyPlace | Promise<BodyPlace>

interface PlaceLimits {
  readonly placeBytes: number
  readonly places: number
  readonly ofOrganization: number
  /** Each of them may hold a read of its socket in memory. */
  readonly waiting: number
  readonly waitingOfOrganization: number
  readonly maxWaitMs: number
  readonly checkMs: number
}

/** 16 MiB in all. Half of them stay available to other organizations. */
const defaultLimits: Omit<PlaceLimits, 'placeBytes'> = {
  places: 16,
  ofOrganization: 8,
  waiting: 192,
  waitingOfOrganization: 128,
  maxWaitMs: 10_000,
  checkMs: 1_000,
}

/** While others wait, a slower body loses its place. */
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
 * Limits the cost of large bodies, on their way and while their requests run: there is a fixed number of places,
 * and a body without one is not read further. A free place goes to the organization with the fewest, and there to
 * the longest waiter. A body that hardly moves, or a request that never ends, loses its place to a waiting one.
 */
export class BodyPlaces {
  readonly #limits: PlaceLimits
  readonly #free: Buffer[] = []
  readonly #holders = new Map<IncomingMessage, Holder>()
  /** In the order of their arrival. */
  readonly #waiters = new Map<IncomingMessage, Waiter>()
  #checking: NodeJS.Timeout | undefined

  constructor(placeBytes: number, changed: Partial<PlaceLimits> = {}) {
    this.#limits = { placeBytes, ...defaultLimits, ...changed }
  }

  /** Waits until a place is free. Rejects with 429 if too many wait or the wait took too long. */
  take(request: IncomingMessage, organizationId: string, cut: (error: ApiError) => void): Taking {
    return this.#hasRoomFor(organizationId)
      ? this.#hold(request, { organizationId, cut })
      : this.#wait(request, organizationId, cut)
  }

  /** Returns this request's place, or ends its wait. Safe for a request with neither. */
  release(request: IncomingMessage): void {
    this.#stopWaiting(request)
    const holder = this.#holders.get(request)
    if (!holder) return
    this.#holders.delete(request)
    this.#free.push(holder.place.buffer)
    this.#giveFree()
  }

  #hasRoomFor(organizationId: string): boolean {
    return (
      this.#holders.size < this.#limits.places &&
      countOf(this.#holders.values(), organizationId) < this.#limits.ofOrganization
    )
  }

  #hold(
    request: IncomingMessage,
    { organizationId, cut }: Pick<Holder, 'organizationId' | 'cut'>,
  ): BodyPlace {
    const buffer = this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#limits.placeBytes)
    const place = { buffer, filled: 0 }
    this.#holders.set(request, { organizationId, place, cut, seenBytes: undefined })
    return place
  }

  #wait(
    request: IncomingMessage,
    organizationId: string,
    cut: (error: ApiError) => void,
  ): Promise<BodyPlace> {
    const { waiting, waitingOfOrganization, maxWaitMs, checkMs } = this.#limits
    const isFull =
      this.#waiters.size >= waiting ||
      countOf(this.#waiters.values(), organizationId) >= waitingOfOrganization
    if (isFull) return Promise.reject(tooMany('Too many large bodies are sent at once.'))
    return new Promise((give, reject) => {
      const timer = setTimeout(() => {
        this.#stopWaiting(request)
        reject(tooMany('Too many large bodies are sent at once.'))
      }, maxWaitMs)
      this.#waiters.set(request, { organizationId, give, cut, timer })
      this.#checking ??= setInterval(() => this.#cutSlow(), checkMs).unref()
    })
  }

  #stopWaiting(request: IncomingMessage): void {
    clearTimeout(this.#waiters.get(request)?.timer)
    this.#waiters.delete(request)
    if (this.#waiters.size > 0) return
    clearInterval(this.#checking)
    this.#checking = undefined
  }

  #giveFree(): void {
    while (this.#holders.size < this.#limits.places) {
      const next = this.#nextWaiter()
      if (!next) return
      const [request, waiter] = next
      this.#stopWaiting(request)
      waiter.give(this.#hold(request, waiter))
    }
  }

  /** Whose turn it is: of those that may have a place, the first of the organization with the fewest. */
  #nextWaiter(): [IncomingMessage, Waiter] | undefined {
    let found: [IncomingMessage, Waiter] | undefined
    let fewest = this.#limits.ofOrganization
    const seen = new Set<string>()
    for (const entry of this.#waiters) {
      const { organizationId } = entry[1]
      if (seen.has(organizationId)) continue
      seen.add(organizationId)
      const count = countOf(this.#holders.values(), organizationId)
      if (count < fewest) [fewest, found] = [count, entry]
    }
    return found
  }

  #cutSlow(): void {
    const waiting = new Set([...this.#waiters.values()].map(({ organizationId }) => organizationId))
    const isFull = this.#holders.size >= this.#limits.places
    for (const [request, holder] of this.#holders) {
      const isSlow = !request.complete && cameSlowly(holder)
      holder.seenBytes = holder.place.filled
      // Others may wait for places of their own organization alone.
      if (!isSlow || !(isFull || waiting.has(holder.organizationId))) continue
      holder.cut(tooMany('This body came too slowly while others waited.'))
      this.release(request)
    }
  }
}

const cameSlowly = ({ place, seenBytes }: Holder): boolean =>
  seenBytes !== undefined && place.filled - seenBytes < leastBytesPerCheck

const countOf = (entries: Iterable<{ readonly organizationId: string }>, id: string): number => {
  let count = 0
  for (const { organizationId } of entries) if (organizationId === id) count += 1
  return count
}

const tooMany = (message: string): ApiError =>
  new ApiError('rate_limit_exceeded', `${message} Retry shortly.`, undefined, { retryAfterSeconds })
