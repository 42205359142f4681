/**
 * From the end of the callee's speech to the agent's first sound, with a cascade of three scripted providers that take
 * 350 ms (speech to text), 450 ms (model) and 200 ms (text to speech), over HTTP and streaming. Some turns have a pause
 * in the middle, at which the model may be asked in vain. At last each stage has a first provider that never answers:
 * how long the callee hears nothing. Usage: `npm run bench cascade -- [turns] [part of a row's name]`.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { createSynthesizer } from '../src/audio/flite.ts'
import { encodeG711, g711FrameBytes, g711Silence } from '../src/audio/g711.ts'
import {
  createCascadeEngine,
  type CascadeEngineSettings,
} from '../src/conversation/engines/cascade/cascade-engine.ts'
import type { VoiceSession } from '../src/conversation/engine/voice-engine.ts'
import { silentLogger } from '../src/runtime/logger.ts'
import {
  modelSettings,
  startModel,
} from '../tests/support/conversation/providers/scripted-model.ts'
import type { ScriptedProvider } from '../tests/support/conversation/providers/scripted-provider.ts'
import {
  startSynthesizer,
  synthesizerSettings,
} from '../tests/support/conversation/providers/scripted-synthesizers.ts'
import {
  startTranscriber,
  transcriberSettings,
  type TranscriberName,
} from '../tests/support/conversation/providers/scripted-transcribers.ts'
import type { SynthesizerKind } from '../src/contract/provider-kinds.ts'

const sttMs = 350
const llmMs = 450
const ttsMs = 200
const goalMs = 850
const frameMs = 20
/** Every fourth turn has a pause of this length in the middle. */
const middlePauseMs = 450
const reply = 'Tuesday is fine with us. See you then.'
/** As fast as people speak. */
const msOf = (text: string): number => text.length * 60

const lines: readonly (readonly string[])[] = [
  ['I would like to come on Tuesday.'],
  ['Yes that works for me.'],
  ['I think I need a new appointment', 'for my brother.'],
  ['What does it cost.'],
  ['Please call me again tomorrow.'],
  ['My name is Sam', 'and I live next door.'],
  ['That sounds good.'],
  ['Can you tell me more about it.'],
]

interface Spoken {
  readonly parts: readonly string[]
  readonly g711: Uint8Array
}

const flite = createSynthesizer()

/** Without the silence around it: what is measured begins at the last sound. */
const trimmed = (samples: Int16Array): Int16Array => {
  const isLoud = (sample: number): boolean => Math.abs(sample) > 400
  return samples.subarray(samples.findIndex(isLoud), samples.findLastIndex(isLoud) + 1)
}

const spokenOf = (parts: readonly string[]): Spoken => {
  const pieces = parts.flatMap((part, at) => [
    ...(at > 0 ? [g711Silence('pcmu', middlePauseMs * 8)] : []),
    encodeG711('pcmu', trimmed(flite.synthesize(part, 'kal').samples)),
  ])
  return { parts, g711: Buffer.concat(pieces) }
}

interface Stage {
  readonly settings: Omit<CascadeEngineSettings, 'logger'>
  readonly model: ScriptedProvider
  stop(): void
}

const openStage = async (
  stt: TranscriberName,
  tts: SynthesizerKind,
  turns: readonly Spoken[],
  lagMs: number,
): Promise<Stage> => {
  // Over HTTP each request is another sentence: one of a pause in the middle is in vain.
  const stretches =
    stt === 'openai-stt'
      ? Array.from({ length: 3 * turns.length }, (_, at) => `This is sentence ${at}.`)
      : turns.flatMap(({ parts }) => parts)
  const script = { stretches, gapMs: 250, wordMs: 150, lagMs, finalMs: sttMs }
  const transcriber = await startTranscriber(stt, script)
  const model = await startModel({ reply, firstMs: llmMs })
  const synthesizer = await startSynthesizer(tts, { firstMs: ttsMs, msOf })
  return {
    settings: {
      stt: [transcriberSettings(stt, transcriber)],
      llm: [modelSettings('llm', model)],
      tts: [synthesizerSettings(tts, synthesizer)],
    },
    model,
    stop: () => {
      for (const server of [transcriber, model, synthesizer]) server.stop()
    },
  }
}

/** Holds the turns in real time. Returns the milliseconds from the end of each speech to the first sound. */
const hold = async (
  settings: Stage['settings'],
  turns: readonly Spoken[],
  onTurn: () => void = () => {},
): Promise<number[]> => {
  const session = await createCascadeEngine({ ...settings, logger: silentLogger }).open(
    {
      callId: 'bench',
      codec: 'pcmu',
      instructions: 'Be kind.',
      greeting: `Hello ${settings.stt[0]?.id}.`,
      language: 'en-US',
      tools: [],
    },
    new AbortController().signal,
  )
  let sound = Promise.withResolvers<number>()
  let over = Promise.withResolvers<void>()
  void (async () => {
    for await (const event of session.events) {
      if (event.type === 'audio') sound.resolve(performance.now())
      if (event.type === 'agent_text') over.resolve()
      if (event.type === 'error') over.reject(new Error(event.message))
    }
  })()
  const line = startLine(session)
  const waits: number[] = []
  try {
    await over.promise
    for (const { g711 } of turns) {
      onTurn()
      await delay(300)
      sound = Promise.withResolvers()
      over = Promise.withResolvers()
      const endedAt = await line.say(g711)
      waits.push((await sound.promise) - endedAt)
      await over.promise
      // What is said in the bench is played at once.
      await delay(1_500)
    }
  } finally {
    line.stop()
    await session.close()
  }
  return waits
}

/** A frame each 20 ms, of speech or of silence. */
const startLine = (session: VoiceSession) => {
  const silence = g711Silence('pcmu')
  let speech: { readonly g711: Uint8Array; at: number; end(at: number): void } | undefined
  let sent = 0
  const beganAt = performance.now()
  const timer = setInterval(() => {
    for (; sent * frameMs <= performance.now() - beganAt; sent += 1) {
      if (!speech) {
        session.hear(silence)
        continue
      }
      const frame = silence.slice()
      frame.set(speech.g711.subarray(speech.at, speech.at + g711FrameBytes))
      speech.at += g711FrameBytes
      session.hear(frame)
      if (speech.at < speech.g711.length) continue
      speech.end(performance.now())
      speech = undefined
    }
  }, frameMs / 4)
  return {
    say: (g711: Uint8Array) =>
      new Promise<number>((resolve) => {
        speech = { g711, at: 0, end: resolve }
      }),
    stop: () => clearInterval(timer),
  }
}

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor(share * (values.length - 1))] ?? 0

const count = Number(process.argv[2] ?? 24)
/** A part of a row's name: only those rows are measured. */
const only = process.argv[3] ?? ''
const turns = Array.from({ length: count }, (_, at) => spokenOf(lines[at % lines.length] ?? []))

const measure = async (
  name: string,
  stt: TranscriberName,
  tts: SynthesizerKind,
  lagMs: number,
): Promise<void> => {
  if (!name.includes(only)) return
  const stage = await openStage(stt, tts, turns, lagMs)
  try {
    const waits = await hold(stage.settings, turns)
    const more = (stage.model.requests.length / turns.length - 1) * 100
    console.log(
      [
        name.padEnd(34),
        `${quantile(waits, 0.5).toFixed(0)}/${quantile(waits, 0.95).toFixed(0)}`.padEnd(12),
        `${more.toFixed(0)} %`,
      ].join('  '),
    )
  } finally {
    stage.stop()
  }
}

/** One stage has a first provider that goes mute in the middle of the call. */
const measureTakeover = async (mute: 'stt' | 'llm' | 'tts'): Promise<void> => {
  const few = turns.filter(({ parts }) => parts.length === 1).slice(0, 2)
  const first = await openStage('deepgram-flux', 'cartesia-tts', few, 150)
  const second = await openStage('openai-stt', 'openai-tts', few, 150)
  const broken =
    mute === 'stt'
      ? await startTranscriber('soniox-stt', { stretches: [], gapMs: 250 })
      : mute === 'llm'
        ? await startModel({ reply })
        : await startSynthesizer('cartesia-tts', { msOf })
  const settings = {
    stt: [...first.settings.stt, ...second.settings.stt],
    llm: [...first.settings.llm, ...second.settings.llm],
    tts: [...first.settings.tts, ...second.settings.tts],
    ...(mute === 'stt' && {
      stt: [transcriberSettings('soniox-stt', broken), ...second.settings.stt],
    }),
    ...(mute === 'llm' && { llm: [modelSettings('mute', broken), ...second.settings.llm] }),
    ...(mute === 'tts' && {
      tts: [synthesizerSettings('cartesia-tts', broken), ...second.settings.tts],
    }),
  }
  try {
    const waits = await hold(settings, few.slice(0, 1), () => {
      broken.fault = 'half_open'
    })
    console.log(`mute ${mute}: first sound (filler or reply) after ${waits[0]?.toFixed(0)} ms`)
  } finally {
    for (const each of [first, second, broken]) each.stop()
  }
}

console.log('providers                           ms p50/p95    more requests to the model')
await measure('HTTP', 'openai-stt', 'openai-tts', 0)
await measure('OpenAI stream, ElevenLabs', 'openai-stt-stream', 'elevenlabs-tts', 150)
await measure('Nova, Aura, words after 150 ms', 'deepgram-nova', 'deepgram-tts', 150)
await measure('Flux, Cartesia, words after 150 ms', 'deepgram-flux', 'cartesia-tts', 150)
await measure('Flux, Cartesia, words after 350 ms', 'deepgram-flux', 'cartesia-tts', 350)
for (const mute of ['stt', 'llm', 'tts'] as const)
  if ('mute'.includes(only)) await measureTakeover(mute)
console.log(
  `goal: ${goalMs} ms p50 streaming, at most 30 % more requests, no silence above 2000 ms`,
)
