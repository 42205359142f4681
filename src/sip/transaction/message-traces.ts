import type { Destination } from '../message/destination.ts'
import { headerOf, type SipMessage } from '../message/message.ts'

/** A message on the wire. Each repetition is one more; what could not be read is none. */
export interface TracedMessage {
  readonly direction: 'sent' | 'received'
  readonly message: SipMessage
  /** To where it went, or where it came from. */
  readonly peer: Destination
}

/** Who wants to see the messages of one call. */
export interface MessageTrace {
  add(traced: TracedMessage): void
  /** Aborted when there is no more to see. */
  readonly until: AbortSignal
}

export interface MessageTraces {
  follow(sipCallId: string, trace: MessageTrace): void
  note(direction: TracedMessage['direction'], message: SipMessage, peer: Destination): void
}

/** Calls followed at a time; one more than these is not followed. */
const maxFollowed = 20_000

/** The messages of some calls, by Call-ID, as they cross the wire. */
export const createMessageTraces = (): MessageTraces => {
  const followed = new Map<string, MessageTrace>()
  return {
    follow(sipCallId, trace) {
      if (trace.until.aborted || followed.size >= maxFollowed) return
      followed.set(sipCallId, trace)
      trace.until.addEventListener('abort', () => followed.delete(sipCallId), { once: true })
    },
    note(direction, message, peer) {
      if (followed.size === 0) return
      followed.get(headerOf(message, 'call-id') ?? '')?.add({ direction, message, peer })
    },
  }
}
