import { g711FrameBytes, g711Silence } from '../../../audio/g711.ts'
import { heardWords } from '../../heard-words.ts'
import type { Codec, VoiceEvent } from '../../voice-engine.ts'
import type { WireAudio } from './wire-audio.ts'

/** What the server has said so far, utterance by utterance (an utterance is an item of the protocol). */
export interface AgentUtterances {
  /** `response.output_audio.delta`, base64. */
  audio(itemId: string, responseId: string, base64: string): void
  audioDone(itemId: string): void
  text(itemId: string, responseId: string, delta: string): void
  textDone(itemId: string, responseId: string, transcript: string): void
  /** `response.done`: nothing more comes for the utterances of this response. */
  responseDone(responseId: string): void
  /** The server is gone in the middle: what was begun ends here, with as many of its words as its sound can hold. */
  breakOff(): void
  /** Nothing more of it is let through. How much audio there was, and whose response it is; `undefined` if unknown. */
  interrupt(itemId: string): { producedMs: number; responseId: string } | undefined
  readonly producedMs: number
}

interface Utterance {
  readonly id: string
  readonly responseId: string
  /** G.711 bytes received; 8 are one millisecond. */
  producedBytes: number
  carry: Uint8Array
  text: string
  isTextTold: boolean
  isAudioDone: boolean
  isInterrupted: boolean
}

const bytesPerMs = 8
/** Only the last few matter: an interruption reaches back to what is still queued for playout. */
const maxTracked = 32
const maxTextLength = 20_000
/** As fast as anybody speaks. */
const charactersPerSecond = 20
const noBytes = new Uint8Array(0)

export const createAgentUtterances = (
  codec: Codec,
  wire: WireAudio,
  emit: (event: VoiceEvent) => void,
): AgentUtterances => {
  const tracked = new Map<string, Utterance>()
  const interruptedResponses = new Set<string>()
  let producedBytes = 0
  let speakingId: string | undefined

  const track = (id: string, responseId: string): Utterance => {
    const known = tracked.get(id)
    if (known) return known
    const utterance: Utterance = {
      id,
      responseId,
      producedBytes: 0,
      carry: noBytes,
      text: '',
      isTextTold: false,
      isAudioDone: false,
      isInterrupted: interruptedResponses.has(responseId),
    }
    tracked.set(id, utterance)
    forgetOldest(tracked)
    return utterance
  }

  /** Whole frames go out, the rest waits for more: a short frame in the middle of speech would click. */
  const reframe = (utterance: Utterance, g711: Uint8Array): void => {
    const joined = utterance.carry.length > 0 ? concat(utterance.carry, g711) : g711
    const wholeBytes = joined.length - (joined.length % g711FrameBytes)
    utterance.carry = joined.slice(wholeBytes)
    if (wholeBytes === 0) return
    emit({ type: 'audio', utteranceId: utterance.id, g711: joined.subarray(0, wholeBytes) })
  }

  const endAudio = (utterance: Utterance): void => {
    if (utterance.isAudioDone || utterance.producedBytes === 0) return
    utterance.isAudioDone = true
    if (utterance.isInterrupted) return
    if (utterance.carry.length > 0) {
      const frame = g711Silence(codec)
      frame.set(utterance.carry)
      utterance.carry = noBytes
      emit({ type: 'audio', utteranceId: utterance.id, g711: frame })
    }
    emit({ type: 'audio_end', utteranceId: utterance.id })
  }

  const tellText = (utterance: Utterance): void => {
    if (utterance.isTextTold || utterance.text === '') return
    utterance.isTextTold = true
    emit({ type: 'agent_text', utteranceId: utterance.id, text: utterance.text })
  }

  return {
    audio(itemId, responseId, base64) {
      const utterance = track(itemId, responseId)
      // Before decoding: a burst of dead audio must cost nothing.
      if (utterance.isInterrupted || utterance.isAudioDone) return
      if (speakingId !== itemId) wire.restart()
      speakingId = itemId
      const g711 = wire.fromWire(Buffer.from(base64, 'base64'))
      utterance.producedBytes += g711.length
      producedBytes += g711.length
      reframe(utterance, g711)
    },
    audioDone(itemId) {
      const utterance = tracked.get(itemId)
      if (utterance) endAudio(utterance)
    },
    text(itemId, responseId, delta) {
      const utterance = track(itemId, responseId)
      if (utterance.text.length >= maxTextLength) return
      utterance.text += delta
    },
    textDone(itemId, responseId, transcript) {
      const utterance = track(itemId, responseId)
      utterance.text = transcript.slice(0, maxTextLength)
      tellText(utterance)
    },
    responseDone(responseId) {
      for (const utterance of tracked.values()) {
        if (utterance.responseId !== responseId) continue
        endAudio(utterance)
        tellText(utterance)
      }
    },
    breakOff() {
      for (const utterance of tracked.values()) {
        if (utterance.isAudioDone && utterance.isTextTold) continue
        if (!utterance.isAudioDone) utterance.text = spokenPart(utterance)
        endAudio(utterance)
        tellText(utterance)
      }
    },
    interrupt(itemId) {
      const utterance = tracked.get(itemId)
      if (!utterance || utterance.isInterrupted) return undefined
      utterance.isInterrupted = true
      if (!utterance.isAudioDone) rememberInterrupted(interruptedResponses, utterance.responseId)
      return {
        producedMs: Math.floor(utterance.producedBytes / bytesPerMs),
        responseId: utterance.responseId,
      }
    },
    get producedMs() {
      return Math.floor(producedBytes / bytesPerMs)
    },
  }
}

const spokenPart = ({ text, producedBytes }: Utterance): string => {
  const mostCharacters = (producedBytes / bytesPerMs / 1000) * charactersPerSecond
  return heardWords(text, text === '' ? 1 : mostCharacters / text.length)
}

const forgetOldest = (tracked: Map<string, Utterance>): void => {
  for (const id of tracked.keys()) {
    if (tracked.size <= maxTracked) return
    tracked.delete(id)
  }
}

const rememberInterrupted = (responses: Set<string>, responseId: string): void => {
  responses.add(responseId)
  for (const oldest of responses) {
    if (responses.size <= maxTracked) return
    responses.delete(oldest)
  }
}

const concat = (one: Uint8Array, other: Uint8Array): Uint8Array => {
  const joined = new Uint8Array(one.length + other.length)
  joined.set(one)
  joined.set(other, one.length)
  return joined
}
