/**
 * What is left of speech that crossed RTP: two sessions of ours, G.711, and between them a relay that loses packets and
 * delays each by its own time. All conditions run side by side, in real time, for about a minute. The measure is our own
 * (`quality/speech-score.ts`), because P.862 may not be built from its published source. Usage: `npm run bench quality`.
 */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createSynthesizer } from '../src/audio/flite.ts'
import { decodeG711, encodeG711, g711FrameBytes, g711Silence } from '../src/audio/g711.ts'
import { resample } from '../src/audio/resample.ts'
import { openRtpSession } from '../src/rtp/rtp-session.ts'
import { PhasedTicker } from '../src/rtp/ticker.ts'
import { scoreSpeech, type Sentence } from './quality/speech-score.ts'

interface Condition {
  readonly name: string
  readonly loss: number
  readonly jitterMs: number
  /** How much worse than the clean line it may be; undefined: no goal. */
  readonly mayCost?: number
}

const conditions: readonly Condition[] = [
  { name: 'clean', loss: 0, jitterMs: 0 },
  { name: 'loss 1 %', loss: 0.01, jitterMs: 0 },
  { name: 'loss 5 %', loss: 0.05, jitterMs: 0 },
  { name: 'loss 10 %', loss: 0.1, jitterMs: 0, mayCost: 0.8 },
  { name: 'jitter to 60 ms', loss: 0, jitterMs: 60 },
  { name: 'jitter to 200 ms', loss: 0, jitterMs: 200 },
  { name: 'jitter to 400 ms', loss: 0, jitterMs: 400, mayCost: 1 },
]

const sentencesSaid = [
  'Good morning, this is the dental practice on Riverside Road.',
  'We would like to move your appointment to Tuesday at nine.',
  'Does that suit you, or shall we look for another day of the week?',
  'Please bring your insurance card and the letter of your doctor.',
  'You can call us back at any time before six in the evening.',
  'Thank you very much, and have a pleasant afternoon.',
]
const voices = ['slt', 'kal', 'rms'] as const
const pauseSamples = 8_000
const tailFrames = 60
const socket = { bindAddress: '127.0.0.1', portRange: { min: 20_000, max: 29_998 } }

const main = async (): Promise<void> => {
  const { samples, sentences } = makeSpeech()
  const sent = encodeG711('pcmu', samples)
  const reference = decodeG711('pcmu', sent)
  console.log(
    `${(samples.length / 8000).toFixed(0)} s of speech, ${conditions.length} lines at once`,
  )
  const ticker = new PhasedTicker()
  const lines = await Promise.all(
    conditions.map(async (condition, index) => ({
      condition,
      ...(await runLine(condition, index + 1, sent, ticker)),
    })),
  )
  ticker.stop()
  const results = lines.map(({ condition, heard, stats }) => ({
    condition,
    stats,
    ...scoreSpeech(reference, decodeG711('pcmu', heard), sentences),
  }))
  for (const { condition, score, correlation, gapsPerThousand, delayMs, stats } of results)
    console.log(
      [
        condition.name.padEnd(18),
        `score ${score.toFixed(2)}`,
        `correlation ${correlation.toFixed(3)}`,
        `gaps ${gapsPerThousand.toFixed(1)} per thousand`,
        `delay ${delayMs.toFixed(0)} ms`,
        `late ${stats.packetsLate}, lost ${stats.packetsLost}, concealed ${stats.framesConcealed}`,
      ].join('  '),
    )
  const clean = results[0]?.score ?? 0
  const verdicts = results.flatMap(({ condition: { name, mayCost }, score }) =>
    mayCost === undefined
      ? []
      : [
          `${name} ${(clean - score).toFixed(2)} below clean (goal ${mayCost}): ${clean - score <= mayCost ? 'reached' : 'missed'}`,
        ],
  )
  console.log(verdicts.join('; '))
}

/** Sentences of three voices, a second apart. */
const makeSpeech = (): { readonly samples: Int16Array; readonly sentences: Sentence[] } => {
  const synthesizer = createSynthesizer()
  const sentences: Sentence[] = []
  const parts: Int16Array[] = [new Int16Array(pauseSamples * 2)]
  let at = pauseSamples * 2
  for (const voice of voices)
    for (const sentence of sentencesSaid) {
      const { samples, sampleRateHz } = synthesizer.synthesize(sentence, voice)
      const spoken = resample(samples, sampleRateHz, 8000)
      sentences.push({ from: at, to: at + spoken.length })
      parts.push(spoken, new Int16Array(pauseSamples))
      at += spoken.length + pauseSamples
    }
  const samples = new Int16Array(at)
  let written = 0
  for (const part of parts) {
    samples.set(part, written)
    written += part.length
  }
  return { samples, sentences }
}

const runLine = async (
  condition: Condition,
  seed: number,
  sent: Uint8Array,
  ticker: PhasedTicker,
) => {
  const [speaker, listener] = await Promise.all([openRtpSession(socket), openRtpSession(socket)])
  const relay = createSocket('udp4')
  relay.bind(0, '127.0.0.1')
  await once(relay, 'listening')
  const random = createRandom(seed)
  let isOver = false
  relay.on('message', (bytes) => {
    if (random() < condition.loss) return
    const forward = (): void => {
      if (!isOver) relay.send(bytes, listener.port, listener.address)
    }
    if (condition.jitterMs === 0) forward()
    else setTimeout(forward, random() * condition.jitterMs)
  })
  const media = { codec: 'pcmu', payloadType: 0 } as const
  const remote = { address: '127.0.0.1', port: relay.address().port }
  speaker.connect({ ...media, remote })
  listener.connect({ ...media, remote })
  const frames = Math.floor(sent.length / g711FrameBytes) + tailFrames
  const heard: Uint8Array[] = []
  const silence = g711Silence('pcmu')
  await new Promise<void>((resolve, reject) => {
    let frame = 0
    const stopSpeaking = ticker.add(() => {
      const next = sent.subarray(frame * g711FrameBytes, (frame + 1) * g711FrameBytes)
      speaker.send(next.length === g711FrameBytes ? next : silence)
      frame += 1
      if (frame === frames) stopSpeaking()
    }, reject)
    const stopListening = ticker.add(() => {
      heard.push(Uint8Array.from(listener.receive()))
      if (heard.length < frames) return
      stopListening()
      resolve()
    }, reject)
  })
  isOver = true
  const stats = listener.stats()
  await Promise.all([speaker.close(), listener.close()])
  relay.close()
  return { heard: Buffer.concat(heard), stats }
}

/** The same losses and delays in each run. */
const createRandom = (seed: number): (() => number) => {
  let state = seed * 7_919
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

await main()
