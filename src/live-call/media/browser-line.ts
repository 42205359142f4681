import { g711FrameBytes, g711Silence } from '../../audio/g711.ts'
import type { RtpSession, RtpStats } from '../../rtp/rtp-session-types.ts'

/** A line to a browser, for a media channel: what it hears comes in messages instead of packets. */
export interface BrowserLine extends RtpSession {
  /** Mu-law of the browser's microphone, of any length. */
  heard(g711: Uint8Array): void
}

/** What is gathered before it is heard: the thread and the network deliver unevenly. */
const leastBytes = 3 * g711FrameBytes
/** 400 ms. A browser that sends faster than it hears loses the oldest. */
const mostBytes = 20 * g711FrameBytes
const frameMs = 20

/** What is sent to the line reaches the browser as the sound of the call, as it does those who listen in. */
export const createBrowserLine = (): BrowserLine => {
  const silence = g711Silence('pcmu')
  let waiting: Uint8Array = new Uint8Array(0)
  let isFlowing = false
  let silentFrames = 0
  let frames = 0
  let heardFrames = 0

  const next = (): Uint8Array | undefined => {
    isFlowing = waiting.length >= (isFlowing ? g711FrameBytes : leastBytes)
    if (!isFlowing) return undefined
    const frame = waiting.slice(0, g711FrameBytes)
    waiting = waiting.subarray(g711FrameBytes)
    return frame
  }

  return {
    address: 'browser',
    port: 0,
    heard: (g711) => {
      const joined = new Uint8Array(waiting.length + g711.length)
      joined.set(waiting)
      joined.set(g711, waiting.length)
      waiting = joined.subarray(Math.max(0, joined.length - mostBytes))
    },
    receive: () => {
      frames += 1
      const frame = next()
      silentFrames = frame ? 0 : silentFrames + 1
      if (frame) heardFrames += 1
      return frame ?? silence
    },
    connect: () => undefined,
    send: () => undefined,
    sendDtmf: () => undefined,
    onDigit: () => undefined,
    setDirection: () => undefined,
    stats: (): RtpStats => ({
      packetsSent: frames,
      packetsReceived: heardFrames,
      packetsLost: 0,
      packetsLate: 0,
      packetsDuplicate: 0,
      packetsReordered: 0,
      packetsForeign: 0,
      packetsMalformed: 0,
      packetsUnauthentic: 0,
      framesConcealed: 0,
      resyncs: 0,
      sendErrors: 0,
      jitterMs: 0,
      playoutDelayMs: leastBytes / 8,
      silentForMs: silentFrames * frameMs,
      withoutAudioMs: silentFrames * frameMs,
    }),
    close: async () => undefined,
  }
}
