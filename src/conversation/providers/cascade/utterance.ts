import { encodeG711, g711FrameBytes, g711Silence } from '../../../audio/g711.ts'
import { heardWords } from '../../heard-words.ts'
import type { Codec, VoiceEvent } from '../../voice-engine.ts'

/** Something the agent is saying, on its way to the loop in whole frames. */
export interface Utterance {
  readonly id: string
  /** The words of what is sent from now on. */
  words(text: string): void
  /** 8 kHz. */
  samples(samples: Int16Array): void
  g711(bytes: Uint8Array): void
  /** Nothing more comes. */
  end(): void
  /** Nothing more of it is let through; what was said of it so far is told. */
  interrupt(): void
  /** A server broke in the middle: what was begun ends here, so that what follows is heard. */
  breakOff(): void
  readonly text: string
  readonly producedMs: number
  readonly isOver: boolean
}

const bytesPerMs = 8
/** As fast as anybody speaks. */
const charactersPerSecond = 20
/** 200 ms: what of a long clip nobody has taken yet can still be taken back. */
const maxEventBytes = 10 * g711FrameBytes

export const createUtterance = (
  id: string,
  codec: Codec,
  emit: (event: VoiceEvent) => void,
): Utterance => {
  const spoken: string[] = []
  let carry = new Uint8Array(0)
  let producedBytes = 0
  let lastBeganAtMs = 0
  let isOver = false

  const tellText = (): void => {
    if (spoken.length > 0) emit({ type: 'agent_text', utteranceId: id, text: spoken.join(' ') })
  }

  const g711 = (bytes: Uint8Array): void => {
    if (isOver) return
    const joined = new Uint8Array(carry.length + bytes.length)
    joined.set(carry)
    joined.set(bytes, carry.length)
    const wholeBytes = joined.length - (joined.length % g711FrameBytes)
    carry = joined.slice(wholeBytes)
    if (wholeBytes === 0) return
    for (let at = 0; at < wholeBytes; at += maxEventBytes) {
      send(joined.subarray(at, Math.min(wholeBytes, at + maxEventBytes)))
    }
  }

  const send = (whole: Uint8Array): void => {
    producedBytes += whole.length
    emit({ type: 'audio', utteranceId: id, g711: whole })
  }

  const flush = (): void => {
    if (carry.length === 0) return
    const frame = g711Silence(codec)
    frame.set(carry)
    carry = new Uint8Array(0)
    send(frame)
  }

  const end = (): void => {
    if (isOver) return
    flush()
    isOver = true
    if (producedBytes > 0) emit({ type: 'audio_end', utteranceId: id })
    tellText()
  }

  return {
    id,
    words: (text) => {
      lastBeganAtMs = producedBytes / bytesPerMs
      spoken.push(text)
    },
    samples: (samples) => g711(encodeG711(codec, samples)),
    g711,
    end,
    breakOff() {
      const last = spoken.pop() ?? ''
      const held = spokenPart(last, producedBytes / bytesPerMs - lastBeganAtMs)
      if (held !== '') spoken.push(held)
      end()
    },
    interrupt() {
      if (isOver) return
      isOver = true
      tellText()
    },
    get text() {
      return spoken.join(' ')
    },
    get producedMs() {
      return producedBytes / bytesPerMs
    },
    get isOver() {
      return isOver
    },
  }
}

/** As many of the words as a sound of this length can hold. */
const spokenPart = (text: string, soundMs: number): string =>
  heardWords(text, text === '' ? 1 : (soundMs / 1000) * (charactersPerSecond / text.length))
