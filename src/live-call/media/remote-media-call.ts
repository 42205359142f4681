import type { MediaAddress, NegotiatedMedia } from '../../telephony/carrier.ts'
import {
  lostMediaReport,
  MediaUnavailableError,
  mediaStopLimitMs,
  type MediaCall,
} from './media-port.ts'
import type {
  ConversationPlan,
  FromMediaWorker,
  MediaEvent,
  MediaReport,
  RecordingTarget,
  ToMediaWorker,
} from './media-protocol.ts'

/** The main thread's end of one channel. */
export interface RemoteMediaCall extends MediaCall {
  /** Resolves when the socket is bound; throws `MediaUnavailableError`. */
  readonly opened: Promise<void>
  receive(message: ChannelMessage): void
  /** The worker is gone: whoever waits is answered, and the call hears of a breakdown. */
  lost(reason: string): void
}

export type ChannelMessage = Extract<FromMediaWorker, { channel: number }>

/** Events kept for a listener that has not come yet. */
const maxEarlyEvents = 100
/** A worker that binds no port in this time is too busy for a call. */
const openLimitMs = 2_000

/** `post` reaches the worker; `onEnded` is called once, when the channel's place is free again. */
export const createRemoteMediaCall = (
  channel: number,
  post: (message: ToMediaWorker) => void,
  onEnded: () => void,
): RemoteMediaCall => {
  const opened = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<MediaReport>()
  const earlyEvents: MediaEvent[] = []
  let localMedia: MediaAddress | undefined
  let listener: ((event: MediaEvent) => void) | undefined
  let recordingPath: string | undefined
  let isOver = false
  let stopping: Promise<MediaReport> | undefined
  const openLimit = setTimeout(() => {
    opened.reject(new MediaUnavailableError('A media worker did not open a port in time.'))
    post({ type: 'stop', channel })
  }, openLimitMs)
  const isOpen = opened.promise.finally(() => clearTimeout(openLimit))
  isOpen.catch(() => undefined)

  const deliver = (event: MediaEvent): void => {
    if (listener !== undefined) listener(event)
    else if (earlyEvents.length < maxEarlyEvents) earlyEvents.push(event)
  }

  const end = (report: MediaReport): void => {
    if (isOver) return
    isOver = true
    opened.reject(new MediaUnavailableError('The media worker closed the call.'))
    ended.resolve(report)
    onEnded()
  }

  const receive = (message: ChannelMessage): void => {
    switch (message.type) {
      case 'opened':
        localMedia = message.localMedia
        return opened.resolve()
      case 'open_failed':
        opened.reject(new MediaUnavailableError(message.reason))
        return end(lostMediaReport(undefined))
      case 'event':
        return deliver(message.event)
      case 'ended':
        return end(message.report)
    }
  }

  const stop = async (): Promise<MediaReport> => {
    if (!isOver) post({ type: 'stop', channel })
    // The place in the worker stays taken until it really answers; only our waiting ends here.
    const limit = Promise.withResolvers<MediaReport>()
    const timer = setTimeout(() => limit.resolve(lostMediaReport(recordingPath)), mediaStopLimitMs)
    const report = await Promise.race([ended.promise, limit.promise])
    clearTimeout(timer)
    return report
  }

  return {
    opened: isOpen,
    get localMedia() {
      if (localMedia === undefined) throw new Error('The media socket is not open yet.')
      return localMedia
    },
    prepare: (plan: ConversationPlan) => {
      if (!isOver) post({ type: 'prepare', channel, plan })
    },
    start: (media: NegotiatedMedia, recording: RecordingTarget | undefined) => {
      recordingPath = recording?.path
      if (!isOver) post({ type: 'start', channel, media, recording })
    },
    updateMedia: (media: NegotiatedMedia) => {
      if (!isOver) post({ type: 'update_media', channel, media })
    },
    pressed: (digit) => {
      if (!isOver) post({ type: 'pressed', channel, digit })
    },
    transferSettled: (result) => {
      if (!isOver) post({ type: 'transfer_settled', channel, result })
    },
    onEvent: (next) => {
      listener = next
      for (const event of earlyEvents.splice(0)) next(event)
    },
    stop: () => (stopping ??= stop()),
    receive,
    lost: (reason) => {
      if (isOver) return
      deliver({ type: 'breakdown', reason })
      end(lostMediaReport(recordingPath))
    },
  }
}
