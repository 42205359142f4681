import { encodeG711 } from '../../../../src/audio/g711.ts'
import type { SynthesizerKind } from '../../../../src/contract/provider-kinds.ts'
import { startProvider, type Face, type Peer, type ScriptedProvider } from './scripted-provider.ts'

export interface VoiceScript {
  /** How long the first audio takes. */
  readonly firstMs?: number
  /** The length of the speech for a text. */
  readonly msOf?: (text: string) => number
}

type CreateFace = (peer: Peer, script: Required<VoiceScript>) => Face

const pieces = 4
const loudest = 8_000

const samplesOf = (ms: number): Int16Array =>
  Int16Array.from({ length: ms * 8 }, (_, at) => loudest * Math.sin(at / 3))

const bytesOf = ({ buffer, byteOffset, byteLength }: Int16Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

/** Sends the speech in pieces, then its end. `cut`: the connection breaks after the first piece. */
const speak = (
  peer: Peer,
  samples: Int16Array,
  firstMs: number,
  send: (piece: Int16Array) => void,
  end: () => void,
): void => {
  const size = Math.ceil(samples.length / pieces)
  peer.later(firstMs, () => {
    for (let at = 0; at < samples.length; at += size) {
      send(samples.subarray(at, at + size))
      if (peer.fault === 'cut') return peer.close(1011)
    }
    return end()
  })
}

const parsed = (data: Buffer): Record<string, unknown> =>
  JSON.parse(data.toString('utf8')) as Record<string, unknown>

const elevenlabs: CreateFace = (peer, { firstMs, msOf }) => {
  let text = ''
  return {
    onMessage(data) {
      const message = parsed(data)
      if (message.text !== '') {
        text += String(message.text)
        return
      }
      const sendAudio = (piece: Int16Array): void =>
        peer.send({
          audio: Buffer.from(encodeG711('pcmu', piece)).toString('base64'),
          isFinal: null,
        })
      speak(peer, samplesOf(msOf(text.trim())), firstMs, sendAudio, () => {
        peer.send({ audio: null, isFinal: true })
        peer.close(1000)
      })
    },
  }
}

const cartesia: CreateFace = (peer, { firstMs, msOf }) => ({
  onMessage(data) {
    const message = parsed(data)
    if (message.cancel === true) return
    const { context_id } = message
    const format = message.output_format as Record<string, unknown> | undefined
    if (format?.sample_rate !== 8_000)
      return peer.send({ type: 'error', status_code: 400, context_id, done: true })
    const sendAudio = (piece: Int16Array): void =>
      peer.send({ type: 'chunk', data: bytesOf(piece).toString('base64'), done: false, context_id })
    const text = String(message.transcript)
    speak(peer, samplesOf(msOf(text)), firstMs, sendAudio, () =>
      peer.send({ type: 'done', done: true, status_code: 206, context_id }),
    )
  },
})

const aura: CreateFace = (peer, { firstMs, msOf }) => {
  let text = ''
  let speaking: Promise<void> = Promise.resolve()
  peer.send({ type: 'Metadata', request_id: 'r' })
  return {
    onMessage(data) {
      const message = parsed(data)
      if (message.type === 'Close') return peer.close(1000)
      if (message.type === 'Speak') text += String(message.text)
      if (message.type !== 'Flush') return undefined
      const samples = samplesOf(msOf(text))
      text = ''
      const sendAudio = (piece: Int16Array): void => peer.sendBytes(encodeG711('pcmu', piece))
      speaking = speaking.then(
        () =>
          new Promise((resolve) => {
            speak(peer, samples, firstMs, sendAudio, () => {
              peer.send({ type: 'Flushed', sequence_id: 0 })
              resolve()
            })
          }),
      )
      return undefined
    },
  }
}

const faces: Readonly<Record<Exclude<SynthesizerKind, 'openai-tts'>, CreateFace>> = {
  'elevenlabs-tts': elevenlabs,
  'cartesia-tts': cartesia,
  'deepgram-tts': aura,
}

/** A synthesizer that says every text as a tone, ten milliseconds for each character. */
export const startSynthesizer = (
  kind: SynthesizerKind,
  script: VoiceScript = {},
): Promise<ScriptedProvider> => {
  const whole = { firstMs: 0, msOf: (text: string) => text.length * 10, ...script }
  if (kind !== 'openai-tts') return startProvider({ connect: (peer) => faces[kind](peer, whole) })
  return startProvider({
    answer(_, body, response, fault) {
      if (fault === 'wrong_format')
        return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')
      const samples = samplesOf(whole.msOf(String(parsed(body).input)))
      return void setTimeout(() => {
        response.writeHead(200, { 'content-type': 'audio/pcm;rate=8000' })
        if (fault !== 'cut') return response.end(bytesOf(samples))
        response.write(bytesOf(samples.subarray(0, samples.length >> 2)))
        return setTimeout(() => response.destroy(), 20)
      }, whole.firstMs)
    },
  })
}

/** The settings under which our adapter reaches it. */
export const synthesizerSettings = (kind: SynthesizerKind, { url }: ScriptedProvider) => ({
  name: kind,
  id: `${kind} ${url}`,
  kind,
  key: 'secret-key',
  url: kind === 'openai-tts' ? `${url}/v1` : url,
})

export const synthesizerNames: readonly SynthesizerKind[] = [
  'elevenlabs-tts',
  'cartesia-tts',
  'deepgram-tts',
  'openai-tts',
]
