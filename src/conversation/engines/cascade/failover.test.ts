import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSynthesizer } from '../../../audio/flite.ts'
import { encodeG711, g711FrameBytes, g711Silence } from '../../../audio/g711.ts'
import { silentLogger, type Logger } from '../../../runtime/logger.ts'
import {
  modelSettings,
  startModel,
} from '../../../../tests/support/conversation/providers/scripted-model.ts'
import type {
  ProviderFault,
  ScriptedProvider,
} from '../../../../tests/support/conversation/providers/scripted-provider.ts'
import {
  startSynthesizer,
  synthesizerNames,
  synthesizerSettings,
} from '../../../../tests/support/conversation/providers/scripted-synthesizers.ts'
import {
  startTranscriber,
  transcriberNames,
  transcriberSettings,
} from '../../../../tests/support/conversation/providers/scripted-transcribers.ts'
import type { VoiceEvent, VoiceSession } from '../../engine/voice-engine.ts'
import { createCascadeEngine, type CascadeEngineSettings } from './cascade-engine.ts'

/** `unreachable`: the server is gone, and its port refuses connections. */
type Fault = ProviderFault | 'unreachable'

/** Every provider of every stage with every fault: the second provider takes over within the same turn. */
const faults: readonly Fault[] = [
  'unreachable',
  'expired_key',
  'throttled_with_time',
  'throttled',
  'broken',
  'slow',
  'half_open',
  'cut',
  'wrong_format',
]
const heard = 'I would like to come on Tuesday.'
const reply = 'Tuesday is fine with us. See you then.'
/** As fast as people speak: how much of a sentence was heard is judged by its time. */
const msOf = (text: string): number => text.length * 70
const speech = encodeG711('pcmu', createSynthesizer().synthesize(heard, 'kal').samples)

interface Case {
  readonly name: string
  readonly first: ScriptedProvider
  readonly settings: Omit<CascadeEngineSettings, 'logger'>
  readonly stop: () => void
}

const healthy = async () => {
  const servers = {
    stt: await startTranscriber('openai-stt', { stretches: [heard, heard] }),
    llm: await startModel({ reply }),
    tts: await startSynthesizer('openai-tts', { msOf }),
  }
  return {
    stt: [{ ...transcriberSettings('openai-stt', servers.stt), name: 'second' }],
    llm: [modelSettings('second', servers.llm)],
    tts: [{ ...synthesizerSettings('openai-tts', servers.tts), name: 'second' }],
    stop: () => {
      for (const server of Object.values(servers)) server.stop()
    },
  }
}

const cases: readonly { readonly name: string; readonly build: () => Promise<Case> }[] = [
  ...transcriberNames.map((name) => ({
    name: `stt ${name}`,
    build: async (): Promise<Case> => {
      const { stop, ...second } = await healthy()
      const first = await startTranscriber(name, { stretches: [heard], gapMs: 2_000 })
      const settings = { ...transcriberSettings(name, first), name: 'first' }
      return { name, first, stop, settings: { ...second, stt: [settings, ...second.stt] } }
    },
  })),
  {
    name: 'llm openai-chat',
    build: async (): Promise<Case> => {
      const { stop, ...second } = await healthy()
      const first = await startModel({ reply })
      const settings = modelSettings('first', first)
      return { name: 'llm', first, stop, settings: { ...second, llm: [settings, ...second.llm] } }
    },
  },
  ...synthesizerNames.map((name) => ({
    name: `tts ${name}`,
    build: async (): Promise<Case> => {
      const { stop, ...second } = await healthy()
      const first = await startSynthesizer(name, { msOf })
      const settings = { ...synthesizerSettings(name, first), name: 'first' }
      return { name, first, stop, settings: { ...second, tts: [settings, ...second.tts] } }
    },
  })),
]

/** What a session does, for tests that wait for it. */
const watch = (session: VoiceSession) => {
  const events: VoiceEvent[] = []
  let wake = (): void => {}
  void (async () => {
    for await (const event of session.events) {
      events.push(event)
      wake()
    }
  })()
  return {
    events,
    until: async <T>(find: () => T | undefined): Promise<T> => {
      for (;;) {
        const found = find()
        if (found !== undefined) return found
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}

const speakTo = (session: VoiceSession): void => {
  for (let at = 0; at + g711FrameBytes <= speech.length; at += g711FrameBytes)
    session.hear(speech.subarray(at, at + g711FrameBytes))
  for (let ms = 0; ms < 900; ms += 20) session.hear(g711Silence('pcmu'))
}

const agentWords = (events: readonly VoiceEvent[]): string =>
  events.flatMap((event) => (event.type === 'agent_text' ? [event.text] : [])).join(' ')

const logInto = (lines: object[]): Logger => ({
  ...silentLogger,
  warn: (fields: object | string, message?: string) =>
    void lines.push(typeof fields === 'string' ? { message: fields } : { ...fields, message }),
})

const holdTurn = async (one: Case, fault: Fault): Promise<void> => {
  const lines: object[] = []
  const engine = createCascadeEngine({ ...one.settings, logger: logInto(lines) })
  const session = await engine.open(
    {
      callId: 'call',
      codec: 'pcmu',
      instructions: 'Be kind.',
      greeting: `Hello from ${one.first.url}.`,
      language: 'en-US',
      tools: [],
    },
    new AbortController().signal,
  )
  try {
    const { events, until } = watch(session)
    await until(() => events.find(({ type }) => type === 'agent_text'))
    // A key that expires, or a limit that is reached, is met by the next connection.
    one.first.drop(1011)
    if (fault === 'unreachable') one.first.stop()
    else one.first.fault = fault
    speakTo(session)
    const said = await until(() => events.find((event) => event.type === 'contact_text'))
    assert.ok(said.type === 'contact_text')
    assert.equal(said.text, heard)
    await until(() => (/See you then|And that is all/.test(agentWords(events)) ? true : undefined))
    assert.match(agentWords(events), /Tuesday is fine with us\./)
    assert.ok(!events.some(({ type }) => type === 'error'))
    const log = JSON.stringify(lines)
    assert.match(log, /"provider":"first".*"next":"second".*a provider was replaced/)
    assert.ok(!/secret-key|Tuesday/.test(log), 'the log has no key and no spoken words')
  } finally {
    await session.close()
  }
}

describe(
  'a provider that fails in the middle of a call',
  { timeout: 600_000, concurrency: 12 },
  () => {
    for (const { name, build } of cases)
      for (const fault of faults)
        it(`${name}, ${fault}: the second one takes over in the same turn`, async () => {
          const one = await build()
          try {
            await holdTurn(one, fault)
          } finally {
            one.first.stop()
            one.stop()
          }
        })
  },
)
