import { encodeG711, g711FrameBytes, g711Silence, type G711Codec } from '../../../../audio/g711.ts'
import { g711BytesPerMs } from '../../../../audio/frame.ts'
import { parseObject } from '../../realtime/protocol.ts'
import { ProviderError, withinLimit } from '../provider-error.ts'
import type { ProviderSettings } from '../providers/provider-settings.ts'
import { openProviderSocket, type ProviderSocket } from '../providers/provider-socket.ts'
import { HeardText } from './heard-text.ts'
import type { CreateDialect, StreamDialect, TranscriptEvent } from './stream-dialect.ts'
import type { Speech, Transcriber, Transcription, TranscriptionListener } from './transcriber.ts'

const readyLimitMs = 4_000
/** A callee does not wait longer for the last words. */
const finishLimitMs = 5_000
/** A server that confirms no flush has sent the last words by then. */
const flushGraceMs = 450
/** Kept from before speech: its first sound is softer than the rest. */
const prefixFrames = 15
/** Bytes of speech in one message when it is sent at once. */
const replayChunkBytes = 50 * g711FrameBytes

/** Transcribes over a WebSocket while the callee speaks. */
export const createStreamingTranscriber = (
  settings: ProviderSettings,
  createDialect: CreateDialect,
  { language, codec }: { readonly language: string; readonly codec: G711Codec },
): Transcriber => ({
  async open(listener, signal) {
    const dialect = createDialect(settings, language, codec)
    const transcription = new StreamingTranscription(dialect, codec, listener)
    await transcription.connect(settings.publicHostsOnly === true, signal)
    return transcription
  },
})

class StreamingTranscription implements Transcription {
  readonly #dialect: StreamDialect
  readonly #codec: G711Codec
  readonly #listener: TranscriptionListener
  readonly #text = new HeardText()
  readonly #ready = Promise.withResolvers<void>()
  #socket: ProviderSocket | undefined
  #chunk: Uint8Array[] = []
  #chunkBytes = 0
  /** Flushes that the server has not confirmed. */
  #outstanding = 0
  #flushed: { readonly voicedMs: number; readonly done: PromiseWithResolvers<void> } | undefined
  #lost: ProviderError | undefined

  constructor(dialect: StreamDialect, codec: G711Codec, listener: TranscriptionListener) {
    this.#dialect = dialect
    this.#codec = codec
    this.#listener = listener
    this.#ready.promise.catch(() => undefined)
  }

  async connect(publicHostsOnly: boolean, signal: AbortSignal): Promise<void> {
    const { url, headers, keepAlive, hello, announcesItself } = this.#dialect
    this.#socket = await openProviderSocket(
      {
        url,
        headers,
        publicHostsOnly,
        code: 'transcription_failed',
        who: 'The transcriber',
        ...(keepAlive && { keepAlive }),
        listener: {
          onText: (text) => this.#read(text),
          onLost: (error) => this.#lose(error),
        },
      },
      signal,
    )
    if (hello) this.#socket.send(hello)
    if (!announcesItself) this.#ready.resolve()
    const onAbort = (): void => this.#ready.reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      await withinLimit(this.#ready.promise, readyLimitMs, 'transcription_timeout')
    } catch (error) {
      this.close()
      throw error
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  get words(): string {
    return this.#text.words
  }

  hear(frame: Uint8Array, isSpeech: boolean): void {
    this.#chunk.push(frame.slice())
    this.#chunkBytes += frame.length
    if (this.#dialect.hearsOnlySpeech && !isSpeech) {
      if (this.#chunk.length > prefixFrames) this.#chunkBytes -= this.#chunk.shift()?.length ?? 0
      return
    }
    if (this.#chunkBytes >= this.#dialect.chunkMs * g711BytesPerMs) this.#sendChunk()
  }

  replay({ samples }: Speech): void {
    this.#sendChunk()
    const g711 = encodeG711(this.#codec, samples)
    for (let at = 0; at < g711.length; at += replayChunkBytes)
      this.#sendAudio(g711.subarray(at, at + replayChunkBytes))
  }

  hurry(speech: Speech): void {
    this.#flush(speech, false)
  }

  async finish(speech: Speech): Promise<string> {
    if (this.#lost) throw this.#lost
    const isSettled = this.#dialect.isSettled?.() === true
    this.#flush(speech, true)
    if (!isSettled) await withinLimit(this.#settled(speech), finishLimitMs, 'transcription_timeout')
    this.#flushed = undefined
    return this.#text.take()
  }

  close(): void {
    const closed = new ProviderError('transcription_failed', 'The transcriber was closed.')
    this.#lost ??= closed
    this.#flushed?.done.reject(closed)
    this.#ready.reject(closed)
    this.#socket?.close(this.#dialect.bye)
  }

  async #settled(speech: Speech): Promise<void> {
    if (!this.#flushed && this.#text.words === '') {
      // The server may not have begun with this speech, so there was nothing to end.
      const grace = Promise.withResolvers<void>()
      this.#flushed = { voicedMs: -1, done: grace }
      grace.promise.catch(() => undefined)
      await Promise.all([grace.promise, this.#expectLastWords(grace)])
      this.#flush(speech, true)
    }
    await this.#flushed?.done.promise
  }

  #flush({ voicedMs }: Speech, isOver: boolean): void {
    if (this.#lost || this.#flushed?.voicedMs === voicedMs) return
    this.#sendChunk()
    const message = this.#dialect.flush(isOver)
    if (!message) return
    const done = Promise.withResolvers<void>()
    done.promise.catch(() => undefined)
    this.#flushed?.done.resolve()
    this.#flushed = { voicedMs, done }
    this.#outstanding += 1
    this.#socket?.send(message)
    if (!this.#dialect.confirmsFlush) void this.#expectLastWords(done)
  }

  /** Not each flush is confirmed: a connection that lives has brought the last words after a while. */
  async #expectLastWords(done: PromiseWithResolvers<void>): Promise<void> {
    const grace = Promise.withResolvers<void>()
    const timer = setTimeout(() => grace.resolve(), flushGraceMs)
    try {
      await Promise.all([this.#socket?.answersPing(), grace.promise])
      if (this.#flushed?.done === done) this.#outstanding = 0
      done.resolve()
    } catch {
      // `onLost` has rejected it.
    } finally {
      clearTimeout(timer)
    }
  }

  #read(text: string): void {
    const message = parseObject(text)
    // A server that speaks otherwise is of no use, and would never give words.
    const events: readonly TranscriptEvent[] = message
      ? this.#dialect.read(message)
      : [{ type: 'failed', error: notUnderstood() }]
    for (const event of events) this.#take(event)
  }

  #take(event: TranscriptEvent): void {
    if (this.#lost) return
    switch (event.type) {
      case 'ready':
        return this.#ready.resolve()
      case 'flushed':
        this.#outstanding = Math.max(0, this.#outstanding - 1)
        if (this.#outstanding === 0) this.#flushed?.done.resolve()
        return undefined
      case 'hint':
        return this.#listener.onTurnHint(event.hint)
      case 'words':
        this.#text.add(event.text, event.isFinal)
        return this.#listener.onWords()
      case 'failed':
        this.#socket?.close()
        return this.#lose(event.error)
    }
  }

  #lose(error: ProviderError): void {
    if (this.#lost) return
    this.#lost = error
    this.#ready.reject(error)
    this.#flushed?.done.reject(error)
    this.#listener.onLost(error)
  }

  #sendChunk(): void {
    if (this.#chunkBytes === 0) return
    const least = (this.#dialect.leastChunkMs ?? 0) * g711BytesPerMs
    const missing = least - this.#chunkBytes
    const parts = missing > 0 ? [...this.#chunk, g711Silence(this.#codec, missing)] : this.#chunk
    this.#chunk = []
    this.#chunkBytes = 0
    this.#sendAudio(Buffer.concat(parts))
  }

  #sendAudio(g711: Uint8Array): void {
    const message = this.#dialect.audio(g711)
    if (message instanceof Uint8Array) this.#socket?.sendBytes(message)
    else this.#socket?.send(message)
  }
}

const notUnderstood = (): ProviderError =>
  new ProviderError('transcription_failed', 'The transcriber sent what is not JSON.', {
    status: 415,
  })
