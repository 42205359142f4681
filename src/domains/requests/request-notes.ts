import type { AnsweredRequest } from '../../contract/answered-request.ts'
import type { Database } from '../../database/database.ts'
import { BoundedMap } from '../../runtime/bounded-map.ts'
import { newId } from '../../runtime/ids.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { Telemetry } from '../../runtime/telemetry.ts'
import type { Clock } from '../../runtime/time.ts'
import { describeRequest, type Noted } from './describe-request.ts'
import { insertRequests, type NewRequestRow } from './request-store.ts'

/** Requests that wait to be written; successful reads give way at half of it. */
const maxPending = 4_000
/** Of these, of one organization. */
const maxPendingOfOne = 2_000
/** Rows of one write, and the time between two: 400 a second, which costs PostgreSQL less than 3 % of a core. */
const maxWritten = 200
const writeIntervalMs = 500
/** Writes at a stop. */
const maxLastWrites = 25
/** Larger bodies do not wait as they are. */
const smallBytes = 2 * 1024
/** Refusals that no allowance bounds, of one organization in a minute. */
const maxUnboundedRefusals = 120
const minuteMs = 60_000
const maxCounted = 10_000

interface RequestNotesOptions {
  readonly database: Database
  readonly clock: Clock
  readonly logger: Logger
  readonly telemetry: Pick<Telemetry, 'count'>
  /** Days that requests are kept; with 0 none is. */
  readonly days?: number | undefined
}

type Waiting = { readonly organizationId: string } & (
  | { readonly row: NewRequestRow }
  | { readonly row?: undefined; readonly request: AnsweredRequest; readonly noted: Noted }
)

/**
 * Keeps answered requests in memory for a moment and writes them together. A request never waits for it: what finds no
 * room is left out and counted, and so is what cannot be written. They are described as they are written, so that what
 * is left out costs nothing.
 */
export class RequestNotes {
  readonly #options: RequestNotesOptions
  #waiting: Waiting[] = []
  /** How many wait, by organization: at most as many entries as wait. */
  #ofOne = new Map<string, number>()
  readonly #refusals = new BoundedMap<string, { startedMs: number; count: number }>({
    maxSize: maxCounted,
  })
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined

  constructor(options: RequestNotesOptions) {
    this.#options = options
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.#writeSome(), writeIntervalMs).unref()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#timer = undefined
    await this.flush()
  }

  /** Writes what waits. */
  async flush(): Promise<void> {
    for (let write = 0; write < maxLastWrites && this.#waiting.length > 0; write += 1) {
      await this.#writing
      await this.#writeSome()
    }
    await this.#writing
  }

  readonly note = (request: AnsweredRequest): void => {
    if (this.#options.days === 0) return
    const { organizationId } = request.principal
    if (!this.#hasRoom(request, organizationId)) return this.#drop('full', 1)
    const noted = { id: newId(), at: this.#options.clock.now() }
    const isSmall = request.bodyBytes <= smallBytes && request.answer.length <= smallBytes
    const isRead = request.method === 'GET' && request.status < 400
    this.#waiting.push(
      isSmall
        ? { organizationId, request, noted }
        : isRead
          ? { organizationId, request: { ...request, answer: '' }, noted }
          : { organizationId, row: describeRequest(request, noted) },
    )
    this.#ofOne.set(organizationId, (this.#ofOne.get(organizationId) ?? 0) + 1)
  }

  #hasRoom(request: AnsweredRequest, organizationId: string): boolean {
    const share = request.method === 'GET' && request.status < 400 ? 0.5 : 1
    return (
      this.#waiting.length < share * maxPending &&
      (this.#ofOne.get(organizationId) ?? 0) < share * maxPendingOfOne &&
      (request.isAllowed || this.#isFewRefusals(organizationId))
    )
  }

  #isFewRefusals(organizationId: string): boolean {
    const nowMs = this.#options.clock.monotonicMs()
    const known = this.#refusals.get(organizationId)
    const window =
      known && nowMs - known.startedMs < minuteMs ? known : { startedMs: nowMs, count: 0 }
    window.count += 1
    if (window !== known) this.#refusals.set(organizationId, window)
    return window.count <= maxUnboundedRefusals
  }

  #drop(reason: 'full' | 'not_written', count: number): void {
    for (let each = 0; each < count; each += 1)
      this.#options.telemetry.count('outdial_dropped_requests_total', { reason })
  }

  async #writeSome(): Promise<void> {
    if (this.#writing || this.#waiting.length === 0) return
    this.#writing = this.#write(this.#waiting.splice(0, maxWritten)).finally(() => {
      this.#writing = undefined
    })
    await this.#writing
  }

  async #write(taken: readonly Waiting[]): Promise<void> {
    for (const { organizationId } of taken) {
      const left = (this.#ofOne.get(organizationId) ?? 1) - 1
      if (left === 0) this.#ofOne.delete(organizationId)
      else this.#ofOne.set(organizationId, left)
    }
    try {
      const rows = taken.map((each) => each.row ?? describeRequest(each.request, each.noted))
      await insertRequests(this.#options.database, rows)
    } catch (error) {
      this.#drop('not_written', taken.length)
      this.#options.logger.warn({ err: error, count: taken.length }, 'requests were not kept')
    }
  }
}
