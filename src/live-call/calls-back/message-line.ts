import { frameMs, frameSamples } from '../../audio/frame.ts'
import { encodeG711, g711Silence, type G711Codec } from '../../audio/g711.ts'
import type { RtpSession } from '../../rtp/rtp-session-types.ts'
import type { Ticker } from '../../rtp/ticker.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { NegotiatedMedia } from '../../telephony/carrier.ts'

/** A person's ear on the line: silence until the message, and after it. */
export interface MessageLine {
  /** Again after a re-INVITE. */
  connect(media: NegotiatedMedia): void
  /** Samples at 8 kHz, once. */
  play(samples: Int16Array): void
  close(): Promise<void>
}

/** The audio's way opens a moment after the answer: a first word at once would be cut. */
const leadMs = 600
/** The last word is still in the caller's jitter buffer when it has left here. */
const trailMs = 400

const leadFrames = leadMs / frameMs
const trailFrames = trailMs / frameMs

export const createMessageLine = (
  session: RtpSession,
  ticker: Ticker,
  onPlayed: () => void,
  logger: Logger,
): MessageLine => {
  let codec: G711Codec = 'pcmu'
  let samples: Int16Array | undefined
  let frame = 0

  const nextFrame = (): Uint8Array => {
    if (samples === undefined) return g711Silence(codec)
    const at = (frame - leadFrames) * frameSamples
    frame += 1
    if (at >= samples.length + trailFrames * frameSamples) {
      samples = undefined
      onPlayed()
    }
    if (samples === undefined || at < 0 || at >= samples.length) return g711Silence(codec)
    const speech = new Int16Array(frameSamples)
    speech.set(samples.subarray(at, at + frameSamples))
    return encodeG711(codec, speech)
  }
  const tick = (): void => {
    // Its clock, RTCP included; what a caller says is not listened to.
    session.receive()
    session.send(nextFrame())
  }
  const leaveTicker = ticker.add(tick, (error) => {
    logger.error({ err: error }, 'a message broke off')
    onPlayed()
  })
  return {
    connect: (media) => {
      codec = media.codec
      session.connect(media)
      session.setDirection(media.direction)
    },
    play: (message) => {
      samples = message
      frame = 0
    },
    close: async () => {
      leaveTicker()
      await session.close()
    },
  }
}
