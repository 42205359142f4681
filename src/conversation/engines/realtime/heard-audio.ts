import { decodeG711, g711FrameBytes } from '../../../audio/g711.ts'
import { energyOf } from '../../../audio/level.ts'
import type { G711Codec } from '../../../audio/g711.ts'
import { appendEvent } from './protocol.ts'
import type { WireAudio } from './wire-audio.ts'

/** Packs the callee's audio into messages to the server, as few as a quick reply allows. */
export interface HeardAudio {
  /** 160 bytes of G.711; copied. */
  hear(frame: Uint8Array): void
}

/** RMS 150, about -47 dBFS: quieter sound is never speech on a telephone line. */
const loudEnergy = 150 ** 2
/** While the server may be about to find the end of the speech, its decision waits at most 20 ms for a message. */
const framesWhenAwaited = 2
/** In the middle of speech and of long silence, timing does not matter. */
const framesOtherwise = 5
/** Most servers treat half a second of silence as the end of speech; with longer thresholds 60 ms are lost. */
const awaitedQuietFrames = 40

/**
 * A message costs the system more than its content, so there are fewer where the server waits for none. The first
 * loud frame after a long silence is sent at once with all frames before it.
 */
export const createHeardAudio = (
  codec: G711Codec,
  wire: WireAudio,
  send: (message: Buffer) => void,
): HeardAudio => {
  const pending = new Uint8Array(framesOtherwise * g711FrameBytes)
  const samples = new Int16Array(g711FrameBytes)
  let pendingBytes = 0
  /** Since the last loud frame. The past before a session is unknown. */
  let quietFrames = 1

  const flush = (): void => {
    const message = appendEvent(wire.toWire(pending.subarray(0, pendingBytes)))
    pendingBytes = 0
    send(message)
  }

  const isDue = (wasQuietFrames: number): boolean => {
    const begins = quietFrames === 0 && wasQuietFrames > awaitedQuietFrames
    const isAwaited = quietFrames > 0 && quietFrames <= awaitedQuietFrames
    const frames = isAwaited ? framesWhenAwaited : framesOtherwise
    return begins || pendingBytes >= frames * g711FrameBytes
  }

  return {
    hear(frame) {
      pending.set(frame, pendingBytes)
      pendingBytes += frame.length
      const wasQuietFrames = quietFrames
      quietFrames = energyOf(decodeG711(codec, frame, samples)) > loudEnergy ? 0 : quietFrames + 1
      if (isDue(wasQuietFrames)) flush()
    },
  }
}
