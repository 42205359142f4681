import { decodeG711, encodeG711, g711FrameBytes, g711Silence } from '../../src/audio/g711.ts'
import { energyOf } from '../../src/audio/level.ts'
import type { RtpSession } from '../../src/rtp/rtp-session-types.ts'

/** Milliseconds between a callee's own sounds and the heard ones, by the callee's own clock. */
export interface CalleeFigures {
  /** From the answer to the agent's first voiced frame. */
  readonly firstWordsMs: number[]
  /** From the end of a question to the first voiced frame of its reply. */
  readonly turnMs: number[]
  /** From the beginning of an interruption to the last voiced frame of the interrupted reply. */
  readonly bargeInMs: number[]
}

/** RMS 200: well above the residue of resampling in silence. */
const voicedEnergy = 200 ** 2
const frameMs = 20
/** The agent has finished after this much silence; between its sentences there are 180 ms. */
const quietMs = 700
/** How far into a reply it is interrupted. */
const interruptAfterMs = 1_200
/** An interruption that has not worked by then does not count, but is reported. */
const interruptLimitMs = 2_000
const waitLimitMs = 15_000

type Phase = 'greeting' | 'asking' | 'waiting' | 'listening' | 'interrupting' | 'settling'

/** A callee who asks, hears the beginning of the reply, interrupts it, and asks again. Call `tick` every 20 ms. */
export const createMeasuringCallee = (
  session: RtpSession,
  clips: { readonly question: Int16Array; readonly interruption: Int16Array },
  figures: CalleeFigures,
) => {
  const answeredAt = performance.now()
  const heard = new Int16Array(g711FrameBytes)
  const silence = g711Silence('pcmu')
  let phase: Phase = 'greeting'
  let phaseMs = 0
  let agentQuietMs = 0
  let lastVoicedAt = 0
  let saidAt = 0
  let sending: Uint8Array | undefined
  let sendingAt = 0
  let hasHeard = false
  let hasReplied = false

  const enter = (next: Phase): void => {
    phase = next
    phaseMs = 0
    hasReplied = false
  }

  const say = (clip: Int16Array): void => {
    sending = encodeG711('pcmu', clip)
    sendingAt = 0
  }

  const nextFrame = (): Uint8Array => {
    if (!sending) return silence
    const frame = sending.subarray(sendingAt, sendingAt + g711FrameBytes)
    sendingAt += g711FrameBytes
    if (sendingAt + g711FrameBytes > sending.length) sending = undefined
    return frame
  }

  /** The reaction to hearing the agent, or not, in this frame. */
  const act = (isVoiced: boolean, now: number): void => {
    switch (phase) {
      case 'greeting':
      case 'settling':
        // The agent also replies to an interruption.
        hasReplied ||= isVoiced && !sending
        if (sending || !((hasReplied && agentQuietMs >= quietMs) || phaseMs > waitLimitMs)) return
        say(clips.question)
        return enter('asking')
      case 'asking':
        if (sending) return
        saidAt = now
        return enter('waiting')
      case 'waiting':
        if (isVoiced) {
          figures.turnMs.push(now - saidAt)
          return enter('listening')
        }
        if (phaseMs > waitLimitMs) enter('settling')
        return
      case 'listening':
        if (agentQuietMs >= quietMs) return enter('settling')
        if (phaseMs < interruptAfterMs || !isVoiced) return
        say(clips.interruption)
        saidAt = now
        return enter('interrupting')
      case 'interrupting':
        if (phaseMs < interruptLimitMs && agentQuietMs < 400) return
        figures.bargeInMs.push(Math.max(0, lastVoicedAt - saidAt))
        return enter('settling')
    }
  }

  return {
    tick() {
      const now = performance.now()
      const isVoiced = energyOf(decodeG711('pcmu', session.receive(), heard)) > voicedEnergy
      if (isVoiced && !hasHeard) {
        hasHeard = true
        figures.firstWordsMs.push(now - answeredAt)
      }
      if (isVoiced) lastVoicedAt = now
      agentQuietMs = isVoiced ? 0 : agentQuietMs + frameMs
      phaseMs += frameMs
      act(isVoiced, now)
      session.send(nextFrame())
    },
  }
}
