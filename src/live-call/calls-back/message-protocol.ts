import type { ThreadLogMessage } from '../../runtime/thread-logger.ts'
import type { MediaAddress, NegotiatedMedia } from '../../telephony/carrier.ts'
import type { MediaSocketSettings } from '../media/media-protocol.ts'

/** From the main thread, each about one call. */
export type ToMessageWorker =
  | { readonly type: 'open'; readonly call: number; readonly socket: MediaSocketSettings }
  | { readonly type: 'connect'; readonly call: number; readonly media: NegotiatedMedia }
  /** Samples at 8 kHz. */
  | { readonly type: 'play'; readonly call: number; readonly samples: Int16Array }
  | { readonly type: 'close'; readonly call: number }

export type FromMessageWorker =
  | { readonly type: 'opened'; readonly call: number; readonly localMedia: MediaAddress }
  | { readonly type: 'open_failed'; readonly call: number }
  /** The last sample has left, or its ticks broke. */
  | { readonly type: 'played'; readonly call: number }
  | ThreadLogMessage
