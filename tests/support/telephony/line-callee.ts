import { decodeG711, encodeG711, g711FrameBytes, g711Silence } from '../../../src/audio/g711.ts'
import { energyOf } from '../../../src/audio/level.ts'
import { openRtpSession } from '../../../src/rtp/rtp-session.ts'
import type { RtpSession } from '../../../src/rtp/rtp-session-types.ts'
import { PhasedTicker } from '../../../src/rtp/ticker.ts'
import { createMediaNegotiator, type MediaNegotiator } from '../../../src/sdp/sdp.ts'
import type { MediaDirection } from '../../../src/sdp/media-direction.ts'
import type { Dialog } from '../../../src/sip/dialog/dialog.ts'
import { bodyText } from '../../../src/sip/message/message.ts'
import { anySource } from '../../../src/sip/gate/sources.ts'
import { createUserAgent } from '../../../src/sip/user-agent/user-agent.ts'

/** A callee over real SIP and RTP on loopback, whose line the test holds, resumes and speaks into. */
export interface LineCallee {
  /** The trunk URI that reaches it. */
  readonly target: string
  /** Resolves with the first call that it has answered. */
  readonly answered: Promise<AnsweredLine>
  stop(): Promise<void>
}

export interface AnsweredLine {
  readonly dialog: Dialog
  /** Sends a re-INVITE with this direction; rejects unless it is accepted. */
  change(direction: MediaDirection): Promise<void>
  /** Speaks these samples at 8 kHz, again and again; undefined: is silent. */
  play(samples: Int16Array | undefined): void
  /** Frames of audible speech that came from the other side so far. */
  audibleFrames(): number
}

const audibleEnergy = 200 ** 2

export const startLineCallee = async (): Promise<LineCallee> => {
  const userAgent = createUserAgent({ sources: anySource, bindAddress: '127.0.0.1' })
  const ticker = new PhasedTicker()
  const socket = { bindAddress: '127.0.0.1', portRange: { min: 26_000, max: 29_998 } }
  const answered = Promise.withResolvers<AnsweredLine>()
  const sessions: RtpSession[] = []
  userAgent.onInvite((incoming) => {
    void (async () => {
      const rtp = await openRtpSession(socket)
      sessions.push(rtp)
      const negotiator = createMediaNegotiator({ local: rtp })
      const answer = negotiator.answer(incoming.offer ?? '')
      if (answer === undefined) return incoming.reject(488, 'Not Acceptable Here')
      const dialog = await incoming.accept(answer.sdp)
      if (dialog === undefined) return
      rtp.connect(answer.audio)
      answered.resolve(serveLine(dialog, rtp, negotiator, ticker))
    })()
  })
  await userAgent.start()
  return {
    target: `sip:127.0.0.1:${userAgent.localPort}`,
    answered: answered.promise,
    stop: async () => {
      ticker.stop()
      await Promise.all([userAgent.stop(), ...sessions.map((session) => session.close())])
    },
  }
}

const serveLine = (
  dialog: Dialog,
  rtp: RtpSession,
  negotiator: MediaNegotiator,
  ticker: PhasedTicker,
): AnsweredLine => {
  let frames: Uint8Array[] = []
  let next = 0
  let audible = 0
  const tick = (): void => {
    if (energyOf(decodeG711('pcmu', rtp.receive())) > audibleEnergy) audible += 1
    const frame = frames.length === 0 ? undefined : frames[next++ % frames.length]
    rtp.send(frame ?? g711Silence('pcmu'))
  }
  ticker.add(tick, () => undefined)
  return {
    dialog,
    change: async (direction) => {
      const response = await dialog.reinvite(negotiator.offer(direction))
      const agreed = response && negotiator.acceptAnswer(bodyText(response))
      if (agreed === undefined) throw new Error(`The change was answered ${response?.status}.`)
    },
    play: (samples) => {
      frames = samples === undefined ? [] : framesOf(samples)
      next = 0
    },
    audibleFrames: () => audible,
  }
}

const framesOf = (samples: Int16Array): Uint8Array[] => {
  const bytes = encodeG711('pcmu', samples)
  return Array.from({ length: Math.floor(bytes.length / g711FrameBytes) }, (_, index) =>
    bytes.subarray(index * g711FrameBytes, (index + 1) * g711FrameBytes),
  )
}
