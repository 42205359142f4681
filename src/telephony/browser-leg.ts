import type { CallLeg, LegEnd, NegotiatedMedia } from './carrier.ts'

/** The leg of a talk with a browser: no trunk, no SIP, no phone that rings. */
interface BrowserLeg extends CallLeg {
  /** The browser left. */
  readonly left: () => void
}

/** What a browser sends and takes. Keys come neither as events nor as tones. */
const media: NegotiatedMedia = {
  remote: { address: 'browser', port: 0 },
  codec: 'pcmu',
  payloadType: 0,
  dtmf: 'info',
  direction: 'sendrecv',
}

/** Answered from its beginning. */
export const createBrowserLeg = (): BrowserLeg => {
  const ended = Promise.withResolvers<LegEnd>()
  return {
    sipCallId: '',
    media,
    ended: ended.promise,
    onMediaChange: () => undefined,
    onDigit: () => undefined,
    sendDigits: async () => undefined,
    transfer: async () => ({ kind: 'refused', reason: 'A talk in the browser has no line.' }),
    hangUp: async () => ended.resolve({ by: 'us' }),
    left: () => ended.resolve({ by: 'callee' }),
  }
}
