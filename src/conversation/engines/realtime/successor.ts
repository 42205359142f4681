import { setTimeout as delay } from 'node:timers/promises'
import { backoffMs } from '../../../runtime/backoff.ts'
import type { Logger } from '../../../runtime/logger.ts'
import type { OpenedLink } from './link-settings.ts'

/** The session that follows the present one, opened before that ends. */
export interface Successor {
  /** Opens it, unless it is open or failed a moment ago. */
  prepare(): void
  readonly isReady: boolean
  /** The ready session, if its connection is still open. */
  takeReady(): OpenedLink | undefined
  /** At once, because the session is lost: the session that is ready or opening, or another within the limit. */
  take(limitMs: number): Promise<OpenedLink | undefined>
  /** No session follows; one that is open by now or later is closed. */
  close(): void
}

interface SuccessorOptions {
  readonly openNext: (signal: AbortSignal) => Promise<OpenedLink>
  /** Ends every attempt. */
  readonly signal: AbortSignal
  readonly callId: string
  readonly logger: Logger
}

/** While the present session lasts, there is no hurry. */
const retryMs = 5_000
const urgentDelay = { baseMs: 100, maxMs: 1_000 }

export const createSuccessor = ({
  openNext,
  signal,
  callId,
  logger,
}: SuccessorOptions): Successor => {
  let opening: Promise<OpenedLink | undefined> | undefined
  let ready: OpenedLink | undefined
  let nextTryAt = 0
  let isOver = false

  const open = async (): Promise<OpenedLink | undefined> => {
    try {
      const opened = await openNext(signal)
      if (isOver) opened.socket.terminate()
      else ready = opened
      return opened
    } catch (error) {
      logger.warn({ err: error, call_id: callId }, 'a voice engine was not renewed yet')
      opening = undefined
      nextTryAt = performance.now() + retryMs
      return undefined
    }
  }

  const forget = (opened: OpenedLink | undefined): OpenedLink | undefined => {
    opening = undefined
    ready = undefined
    return opened?.socket.readyState === opened?.socket.OPEN ? opened : undefined
  }

  const openAgain = async (limitMs: number): Promise<OpenedLink | undefined> => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(limitMs)])
    for (let attempt = 1; !limit.aborted; attempt += 1) {
      try {
        return await openNext(limit)
      } catch (error) {
        logger.warn({ err: error, call_id: callId }, 'a voice engine stays away')
        await delay(backoffMs(attempt, urgentDelay), undefined, { signal: limit }).catch(
          () => undefined,
        )
      }
    }
    return undefined
  }

  return {
    prepare() {
      if (!opening && performance.now() >= nextTryAt) opening = open()
    },
    get isReady() {
      return ready !== undefined
    },
    takeReady: () => forget(ready),
    take: async (limitMs) => forget(await opening) ?? openAgain(limitMs),
    close() {
      isOver = true
      ready?.socket.terminate()
    },
  }
}
