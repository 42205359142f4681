import type { ProviderError } from '../provider-error.ts'
import type { ProviderSettings } from '../providers/provider-settings.ts'
import type { G711Codec } from '../../../../audio/g711.ts'
import type { TurnHint } from './transcriber.ts'

/** What differs between the streaming transcribers: addresses and messages. A dialect holds the state of one connection. */
export interface StreamDialect {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Sent when the connection is open. */
  readonly hello?: object
  /** Whether the server announces by a `ready` event that it hears. */
  readonly announcesItself: boolean
  /** Audio is sent in messages of this length. */
  readonly chunkMs: number
  /** No message with audio may be shorter. */
  readonly leastChunkMs?: number
  readonly keepAlive?: { readonly everyMs: number; readonly message: object | Uint8Array }
  /** G.711 as the server takes it: bytes, or a message. */
  audio(g711: Uint8Array): Uint8Array | object
  /** Hears only speech, and a little before it: the server keeps silence for the next words. */
  readonly hearsOnlySpeech?: boolean
  /**
   * Asks for the words of all audio so far; undefined if nothing is outstanding, or if the server decides by itself.
   * @param isOver the speech is over; otherwise it only pauses
   */
  flush(isOver: boolean): object | undefined
  /** Whether a `flushed` event confirms each flush. */
  readonly confirmsFlush: boolean
  /** Whether the server has stated that the words so far are the last ones, unless the speech goes on. */
  isSettled?(): boolean
  readonly bye: object | undefined
  read(message: Record<string, unknown>): readonly TranscriptEvent[]
}

export type TranscriptEvent =
  | { readonly type: 'ready' | 'flushed' }
  /** Final words follow the earlier final ones; others replace the earlier ones that were not final. */
  | { readonly type: 'words'; readonly text: string; readonly isFinal: boolean }
  | { readonly type: 'hint'; readonly hint: TurnHint }
  | { readonly type: 'failed'; readonly error: ProviderError }

export type CreateDialect = (
  settings: ProviderSettings,
  language: string,
  codec: G711Codec,
) => StreamDialect
