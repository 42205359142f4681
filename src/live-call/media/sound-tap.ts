import { g711FrameBytes } from '../../audio/g711.ts'

/** Passes on what both sides of a call hear, beside its recorder. */
export interface SoundTap {
  readonly isOn: boolean
  turn(isOn: boolean): void
  /** One frame of each side. */
  write(agent: Uint8Array, callee: Uint8Array): void
  /** One message has arrived at the other thread. */
  taken(): void
}

/** A tenth of a second in one message. */
const framesPerMessage = 5
const laneBytes = framesPerMessage * g711FrameBytes
/** Messages on their way: two seconds. The other thread is stalled; what comes meanwhile is dropped, not kept. */
const maxUntaken = 20

/** Off until it is turned on. It copies some bytes in each frame and waits for nothing. */
export const createSoundTap = (post: (g711: Uint8Array) => void): SoundTap => {
  let isOn = false
  let untaken = 0
  let frames = 0
  let message = new Uint8Array(2 * laneBytes)
  return {
    get isOn() {
      return isOn
    },
    turn: (wanted) => {
      isOn = wanted
      frames = 0
    },
    write: (agent, callee) => {
      message.set(agent, frames * g711FrameBytes)
      message.set(callee, laneBytes + frames * g711FrameBytes)
      frames += 1
      if (frames < framesPerMessage) return
      frames = 0
      if (untaken >= maxUntaken) return
      untaken += 1
      post(message)
      message = new Uint8Array(2 * laneBytes)
    },
    taken: () => {
      untaken = Math.max(0, untaken - 1)
    },
  }
}
