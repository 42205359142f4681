import { Worker } from 'node:worker_threads'
import type { Logger } from '../../runtime/logger.ts'
import type { Service } from '../../runtime/service.ts'
import type { MediaAddress, NegotiatedMedia } from '../../telephony/carrier.ts'
import type { MediaSocketSettings } from '../media/media-protocol.ts'
import type { FromMessageWorker, ToMessageWorker } from './message-protocol.ts'

/** The line of one call back. */
export interface PlayingCall {
  /** For the SDP. */
  readonly localMedia: MediaAddress
  connect(media: NegotiatedMedia): void
  /** Resolves when the last sample at 8 kHz has left; rejects when the thread is gone. */
  play(samples: Int16Array): Promise<void>
  close(): void
}

export interface MessagePlayer extends Service {
  /** Rejects when no RTP port is free. */
  open(socket: MediaSocketSettings): Promise<PlayingCall>
}

interface OpenCall {
  readonly opened: PromiseWithResolvers<MediaAddress>
  readonly played: PromiseWithResolvers<void>
}

/** No port is searched for longer than this, on a busy machine either. */
const openLimitMs = 10_000

/**
 * Speaks messages in a thread of its own, because 20 ms of other work would be heard. The thread begins with the first
 * message; after a fault the next message begins another.
 */
export const createMessagePlayer = (logger: Logger): MessagePlayer => {
  let thread: Worker | undefined
  const calls = new Map<number, OpenCall>()
  let lastCall = 0

  const receive = (message: FromMessageWorker): void => {
    if (message.type === 'log') return logger[message.level](message.fields, message.message)
    const call = calls.get(message.call)
    if (message.type === 'opened') call?.opened.resolve(message.localMedia)
    else if (message.type === 'played') call?.played.resolve()
    else call?.opened.reject(new Error('No RTP port is free.'))
  }
  const begin = (): Worker => {
    const started = new Worker(new URL('./message-worker.ts', import.meta.url), {
      name: 'messages',
    })
    started.on('message', receive)
    started.on('error', (error) =>
      logger.error({ err: error }, 'the thread of messages broke down'),
    )
    started.on('exit', () => {
      if (thread === started) thread = undefined
      const gone = new Error('The thread of messages has ended.')
      for (const { opened, played } of calls.values()) {
        opened.reject(gone)
        played.reject(gone)
      }
      calls.clear()
    })
    return started
  }
  return {
    open: async (socket) => {
      const used = (thread ??= begin())
      const call = (lastCall += 1)
      const own: OpenCall = {
        opened: Promise.withResolvers<MediaAddress>(),
        played: Promise.withResolvers<void>(),
      }
      own.played.promise.catch(() => undefined)
      calls.set(call, own)
      const post = (message: ToMessageWorker): void => used.postMessage(message)
      const close = (): void => {
        calls.delete(call)
        post({ type: 'close', call })
      }
      const limit = setTimeout(
        () => own.opened.reject(new Error('No RTP port was opened.')),
        openLimitMs,
      )
      post({ type: 'open', call, socket })
      try {
        const localMedia = await own.opened.promise
        return {
          localMedia,
          connect: (media) => post({ type: 'connect', call, media }),
          play: (samples) => {
            post({ type: 'play', call, samples })
            return own.played.promise
          },
          close,
        }
      } catch (error) {
        close()
        throw error
      } finally {
        clearTimeout(limit)
      }
    },
    start: async () => {},
    stop: async () => {
      await thread?.terminate()
    },
  }
}
