import { frameMs, frameSamples } from '../../audio/frame.ts'
import { beep, joinSamples, silence } from '../../audio/tones.ts'
import { createSpeechSegmenter } from '../../audio/voice-activity-segmenter.ts'
import { personaHello, type Behaviour } from './personas.ts'

/** A persona's side of a conversation, 20 ms at a time; it counts frames and has no clock. */
export interface PersonaTalk {
  /**
   * Takes whether the other side speaks in this frame, and whether the persona hears another phone ring; returns the
   * persona's audio.
   */
  tick(isVoiced: boolean, isRinging?: boolean): PersonaFrame
}

interface PersonaFrame {
  /** 160 samples at 8 kHz; `undefined` is silence. */
  readonly samples: Int16Array | undefined
  /** The persona wants to hang up. */
  readonly hangsUp: boolean
}

/** The samples of a line at 8 kHz. */
export type SpeakLine = (line: string) => Int16Array

/** The other side has finished after this much silence: longer than the pauses between its sentences. */
export const turnSilenceMs = 700
/** Said "Hello?" after this much silence since the answer. */
const helloAfterMs = 2500
/** After this long without a reply to a question, the next line follows. */
const patienceMs = 5000
/** The last line deserves a goodbye, but the wait for it is limited. */
const farewellMs = 4000
/** The pause that a talker leaves. */
const talkerPauseMs = 1500
const voicemailPickUpMs = 600
const voicemailRecordsMs = 60_000

export const createPersonaTalk = (behaviour: Behaviour, speak: SpeakLine): PersonaTalk => {
  switch (behaviour.kind) {
    case 'converse':
      return createConversing(behaviour.lines, speak)
    case 'talk_on':
      return createTalkingOn(behaviour.lines, speak)
    case 'voicemail':
      return createRecording(behaviour.greeting, speak)
    case 'silent':
      return { tick: () => quiet }
    case 'hang_up':
      return createHangingUp(behaviour.afterMs)
  }
}

const quiet: PersonaFrame = { samples: undefined, hangsUp: false }
const enough: PersonaFrame = { samples: undefined, hangsUp: true }

/** A voice that plays one line after the other. */
const createMouth = () => {
  let playing: Int16Array = new Int16Array(0)
  let at = 0
  return {
    say(samples: Int16Array) {
      playing = samples
      at = 0
    },
    get isSpeaking() {
      return at < playing.length
    },
    next(): PersonaFrame {
      const samples = new Int16Array(frameSamples)
      samples.set(playing.subarray(at, at + frameSamples))
      at += frameSamples
      return { samples, hangsUp: false }
    },
  }
}

/** The other side's speech since the persona last finished speaking. */
const createEar = () => {
  const segmenter = createSpeechSegmenter({ endSilenceMs: turnSilenceMs })
  let waitedMs = 0
  let hasFinished = false
  return {
    listen(isVoiced: boolean) {
      waitedMs += frameMs
      if (segmenter.push(isVoiced)?.kind === 'stop') hasFinished = true
      if (segmenter.isSpeaking) waitedMs = 0
    },
    /** Its turn is over. A caller who spoke only during the persona's line may also finish. */
    get hasFinished() {
      return hasFinished && !segmenter.isSpeaking
    },
    /** Silence of both since the last word of either. */
    get waitedMs() {
      return waitedMs
    },
    startOver() {
      waitedMs = 0
      hasFinished = false
    },
  }
}

const createConversing = (lines: readonly string[], speak: SpeakLine): PersonaTalk => {
  const mouth = createMouth()
  let ear = createEar()
  let nextLine = 0
  let hasSaidHello = false

  const say = (line: string): PersonaFrame => {
    mouth.say(speak(line))
    return mouth.next()
  }

  const waitForTurn = (): PersonaFrame => {
    const isFirst = nextLine === 0 && !hasSaidHello
    const patience = isFirst ? helloAfterMs : nextLine === lines.length ? farewellMs : patienceMs
    if (!ear.hasFinished && ear.waitedMs < patience) return quiet
    if (nextLine === lines.length) return enough
    if (isFirst && !ear.hasFinished) {
      hasSaidHello = true
      return say(personaHello)
    }
    return say(lines[nextLine++]!)
  }

  return {
    tick(isVoiced, isRinging = false) {
      ear.listen(isVoiced)
      // Ringing is no turn: after it the other side is the first to speak, or the persona's patience ends.
      if (isRinging) ear = createEar()
      if (!mouth.isSpeaking) return isRinging ? quiet : waitForTurn()
      const frame = mouth.next()
      if (!mouth.isSpeaking) ear.startOver()
      return frame
    },
  }
}

/** Leaves a pause after each line, whatever the other side does, and lets it finish if it uses the pause. */
const createTalkingOn = (lines: readonly string[], speak: SpeakLine): PersonaTalk => {
  const mouth = createMouth()
  const ear = createEar()
  let nextLine = 0

  return {
    tick(isVoiced, isRinging = false) {
      ear.listen(isVoiced || isRinging)
      if (!mouth.isSpeaking) {
        if (!ear.hasFinished && ear.waitedMs < talkerPauseMs) return quiet
        mouth.say(speak(lines[nextLine++ % lines.length]!))
      }
      const frame = mouth.next()
      if (!mouth.isSpeaking) ear.startOver()
      return frame
    },
  }
}

const createRecording = (greeting: string, speak: SpeakLine): PersonaTalk => {
  const mouth = createMouth()
  mouth.say(joinSamples([silence(voicemailPickUpMs), speak(greeting), silence(300), beep()]))
  let recordsMs = voicemailRecordsMs
  return {
    tick() {
      if (mouth.isSpeaking) return mouth.next()
      recordsMs -= frameMs
      return recordsMs > 0 ? quiet : enough
    },
  }
}

const createHangingUp = (afterMs: number): PersonaTalk => {
  let leftMs = afterMs
  return {
    tick() {
      leftMs -= frameMs
      return leftMs > 0 ? quiet : enough
    },
  }
}
