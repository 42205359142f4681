import { decodeG711, encodeG711, g711Silence, type G711Codec } from '../../audio/g711.ts'
import { createVoiceActivityDetector } from '../../audio/voice-activity.ts'
import type { RtpMedia, RtpSession } from '../../rtp/rtp-session-types.ts'
import type { Ticker } from '../../rtp/ticker.ts'
import type { PersonaTalk } from './persona-talk.ts'

/** A persona's hearing and speech over RTP. */
export interface PersonaMedia {
  connect(media: RtpMedia, direction: Parameters<RtpSession['setDirection']>[0]): void
  /** Speaks and listens until `stop`; calls back once when the persona wants to hang up, or its ticks broke. */
  start(talk: PersonaTalk, onHangUp: () => void): void
  stop(): Promise<void>
}

export const createPersonaMedia = async (
  session: RtpSession,
  ticker: Ticker,
): Promise<PersonaMedia> => {
  const detector = await createVoiceActivityDetector()
  let codec: G711Codec = 'pcmu'
  let leaveTicker = (): void => {}

  const tick = (talk: PersonaTalk, hangUp: () => void): void => {
    const isVoiced = detector.isVoiced(decodeG711(codec, session.receive()))
    const { samples, hangsUp } = talk.tick(isVoiced)
    session.send(samples ? encodeG711(codec, samples) : g711Silence(codec))
    if (hangsUp) hangUp()
  }

  return {
    connect(media, direction) {
      codec = media.codec
      session.connect(media)
      session.setDirection(direction)
    },
    start(talk, onHangUp) {
      const hangUp = (): void => {
        leaveTicker()
        onHangUp()
      }
      leaveTicker = ticker.add(() => tick(talk, hangUp), hangUp)
    },
    async stop() {
      leaveTicker()
      detector.close()
      await session.close()
    },
  }
}
