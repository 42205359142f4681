import type { Service } from '../runtime/service.ts'
import type { Carrier } from './carrier.ts'

/** The connection to the phones of one route. */
export interface Line extends Service {
  /** OPTIONS: whether any final response comes. */
  ping(): Promise<boolean>
  readonly carrier: Carrier
  /** For people: the destination of calls. */
  readonly name: string
  /** The caller ID that callees see, E.164; undefined: no call can be placed. */
  readonly callerId: string | undefined
  /** Where the RTP sockets of its calls listen. */
  readonly mediaBindAddress: string
  /** Address put into SDP instead of it. */
  readonly publicAddress?: string
}
