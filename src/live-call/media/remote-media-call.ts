import type { TransferResult } from '../../conversation/loop/conversation-types.ts'
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

type ChannelMessage = Extract<FromMediaWorker, { channel: number }>

/** Events kept until a listener is registered. */
const maxEarlyEvents = 100
/** A worker that binds no port in this time is too busy for a call. */
const openLimitMs = 2_000

/** The main thread's end of one channel. */
export class RemoteMediaCall implements MediaCall {
  /** Resolves when the socket is bound; throws `MediaUnavailableError`. */
  readonly opened: Promise<void>
  readonly #channel: number
  readonly #post: (message: ToMediaWorker) => void
  readonly #onEnded: () => void
  readonly #opening = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<MediaReport>()
  readonly #earlyEvents: MediaEvent[] = []
  #localMedia: MediaAddress | undefined
  #listener: ((event: MediaEvent) => void) | undefined
  #recordingPath: string | undefined
  #isOver = false
  #stopping: Promise<MediaReport> | undefined

  /** `post` reaches the worker; `onEnded` is called once, when the channel's place is free again. */
  constructor(channel: number, post: (message: ToMediaWorker) => void, onEnded: () => void) {
    this.#channel = channel
    this.#post = post
    this.#onEnded = onEnded
    const openLimit = setTimeout(() => this.#giveUpOpening(), openLimitMs)
    this.opened = this.#opening.promise.finally(() => clearTimeout(openLimit))
    this.opened.catch(() => undefined)
  }

  get localMedia(): MediaAddress {
    if (this.#localMedia === undefined) throw new Error('The media socket is not open yet.')
    return this.#localMedia
  }

  prepare(plan: ConversationPlan): void {
    this.#send({ type: 'prepare', channel: this.#channel, plan })
  }

  start(media: NegotiatedMedia, recording: RecordingTarget | undefined): void {
    this.#recordingPath = recording?.path
    this.#send({ type: 'start', channel: this.#channel, media, recording })
  }

  updateMedia(media: NegotiatedMedia): void {
    this.#send({ type: 'update_media', channel: this.#channel, media })
  }

  pressed(digit: string): void {
    this.#send({ type: 'pressed', channel: this.#channel, digit })
  }

  transferSettled(result: TransferResult): void {
    this.#send({ type: 'transfer_settled', channel: this.#channel, result })
  }

  hear(g711: Uint8Array): void {
    this.#send({ type: 'hear', channel: this.#channel, g711 })
  }

  reportWords(isOn: boolean): void {
    this.#send({ type: 'report_words', channel: this.#channel, isOn })
  }

  passSound(isOn: boolean): void {
    this.#send({ type: 'pass_sound', channel: this.#channel, isOn })
  }

  onEvent(listener: (event: MediaEvent) => void): void {
    this.#listener = listener
    for (const event of this.#earlyEvents.splice(0)) listener(event)
  }

  stop(): Promise<MediaReport> {
    return (this.#stopping ??= this.#stop())
  }

  receive(message: ChannelMessage): void {
    switch (message.type) {
      case 'opened':
        this.#localMedia = message.localMedia
        return this.#opening.resolve()
      case 'open_failed':
        this.#opening.reject(new MediaUnavailableError(message.reason))
        return this.#end(lostMediaReport(undefined))
      case 'event':
        return this.#deliver(message.event)
      case 'ended':
        return this.#end(message.report)
    }
  }

  /** The worker is gone: pending requests are settled, and the call gets a breakdown. */
  lost(reason: string): void {
    if (this.#isOver) return
    this.#deliver({ type: 'breakdown', reason })
    this.#end(lostMediaReport(this.#recordingPath))
  }

  #send(message: ToMediaWorker): void {
    if (!this.#isOver) this.#post(message)
  }

  #giveUpOpening(): void {
    const error = new MediaUnavailableError('A media worker did not open a port in time.')
    this.#opening.reject(error)
    this.#post({ type: 'stop', channel: this.#channel })
  }

  #deliver(event: MediaEvent): void {
    if (event.type === 'sound') this.#send({ type: 'sound_taken', channel: this.#channel })
    if (this.#listener !== undefined) this.#listener(event)
    else if (this.#earlyEvents.length < maxEarlyEvents) this.#earlyEvents.push(event)
  }

  #end(report: MediaReport): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#opening.reject(new MediaUnavailableError('The media worker closed the call.'))
    this.#ended.resolve(report)
    this.#onEnded()
  }

  async #stop(): Promise<MediaReport> {
    this.#send({ type: 'stop', channel: this.#channel })
    // The worker's place stays in use until it really responds; only this wait ends here.
    const limit = Promise.withResolvers<MediaReport>()
    const giveUp = (): void => limit.resolve(lostMediaReport(this.#recordingPath))
    const timer = setTimeout(giveUp, mediaStopLimitMs)
    const report = await Promise.race([this.#ended.promise, limit.promise])
    clearTimeout(timer)
    return report
  }
}
