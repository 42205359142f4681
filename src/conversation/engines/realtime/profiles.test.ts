import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { WebSocketServer } from 'ws'
import { EngineOpenError } from '../../engine/voice-engine.ts'
import type { LinkSettings } from './link-settings.ts'
import { openLink } from './open-link.ts'
import { addressOf, profileFor } from './profiles.ts'
import { sessionUpdate } from './session-update.ts'
import { g711Wire, pcmWire } from './wire-audio.ts'

const options = {
  callId: 'c',
  codec: 'pcmu',
  instructions: 'Be kind.',
  greeting: '',
  language: 'en-GB',
  tools: [],
} as const

describe('the profile of a server', () => {
  const cases: readonly [url: string, name: string, address: string, header: string][] = [
    [
      'wss://api.openai.com/v1/realtime',
      'openai',
      'wss://api.openai.com/v1/realtime?model=m',
      'authorization: Bearer k',
    ],
    [
      'wss://acme.openai.azure.com/openai/v1/realtime',
      'azure',
      'wss://acme.openai.azure.com/openai/v1/realtime?model=m',
      'api-key: k',
    ],
    [
      'wss://acme.openai.azure.com/openai/realtime?api-version=2025-04-01-preview',
      'azure-preview',
      'wss://acme.openai.azure.com/openai/realtime?api-version=2025-04-01-preview&deployment=m',
      'api-key: k',
    ],
    [
      'wss://api.x.ai/v1/realtime',
      'xai',
      'wss://api.x.ai/v1/realtime?model=m',
      'authorization: Bearer k',
    ],
    [
      'wss://api.inworld.ai/api/v1/realtime/session?key=s1&protocol=realtime',
      'inworld',
      'wss://api.inworld.ai/api/v1/realtime/session?key=s1&protocol=realtime',
      'authorization: Basic k',
    ],
    [
      'wss://dashscope-intl.aliyuncs.com/api-ws/v1/realtime',
      'qwen',
      'wss://dashscope-intl.aliyuncs.com/api-ws/v1/realtime?model=m',
      'authorization: Bearer k',
    ],
    [
      'ws://gpu:8000/v1/realtime#speaches',
      'speaches',
      'ws://gpu:8000/v1/realtime?model=m',
      'authorization: Bearer k',
    ],
    [
      'ws://gpu:8080/v1/realtime#localai',
      'localai',
      'ws://gpu:8080/v1/realtime?model=m',
      'authorization: Bearer k',
    ],
    [
      'ws://gpu:9000/v1/realtime',
      'generic',
      'ws://gpu:9000/v1/realtime?model=m',
      'authorization: Bearer k',
    ],
  ]
  for (const [url, name, address, header] of cases) {
    it(`is ${name} for ${url}`, () => {
      const profile = profileFor(new URL(url))
      assert.equal(profile.name, name)
      const made = addressOf(new URL(url), profile, { key: 'k', model: 'm' })
      assert.equal(made.address.href, address)
      const [headerName = '', value] = header.split(': ')
      assert.equal(made.headers[headerName], value)
      const keys = Object.entries(made.headers).filter(([, sent]) => sent.includes('k'))
      assert.equal(keys.filter(([each]) => each !== 'openai-beta').length, 1)
    })
  }

  it('is not OpenAI only because the name appears in the address', () => {
    for (const url of ['wss://api.openai.com.evil.example/', 'wss://evil.example/api.openai.com']) {
      assert.equal(profileFor(new URL(url)).name, 'generic')
    }
  })
})

describe('the settings of a session', () => {
  const settings = {
    options,
    voice: 'v',
    model: undefined,
    transcription: { model: 't' },
    tuning: {},
    wireFormat: g711Wire,
  } as const

  it('are nested in the present dialect, flat in the beta, and half of each at xAI', () => {
    const ga = sessionUpdate('ga', settings) as Record<string, unknown>
    assert.equal(ga['type'], 'realtime')
    assert.deepEqual((ga['audio'] as { output: object }).output, {
      format: { type: 'audio/pcmu' },
      voice: 'v',
    })
    const beta = sessionUpdate('beta', settings) as Record<string, unknown>
    assert.deepEqual(
      [beta['input_audio_format'], beta['output_audio_format'], beta['voice'], beta['audio']],
      ['g711_ulaw', 'g711_ulaw', 'v', undefined],
    )
    const xai = sessionUpdate('xai', settings) as Record<string, unknown>
    assert.deepEqual(xai['audio'], {
      input: {
        format: { type: 'audio/pcmu' },
        transcription: { model: 't', language_hint: 'en' },
      },
      output: { format: { type: 'audio/pcmu' } },
    })
    assert.equal(xai['voice'], 'v')
    assert.ok(xai['turn_detection'])
  })
})

describe('an unknown server', () => {
  const pcmOf = (rate: number): object => ({ type: 'audio/pcm', rate })
  /** Everything that answers the next `session.update`, instead of one event. */
  let answerWith: readonly (object | 'hang up')[] | undefined

  /** Introduces itself with this session, and responds to each `session.update` with the next of these. */
  const withServer = async (
    introduction: object | undefined,
    answers: object[],
    work: (url: string, updates: Record<string, unknown>[]) => Promise<void>,
  ): Promise<void> => {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    const updates: Record<string, unknown>[] = []
    server.on('connection', (socket) => {
      const tell = (event: object) => socket.send(JSON.stringify(event))
      if (introduction) tell({ type: 'session.created', session: introduction })
      if (answerWith?.[0] === 'hang up')
        tell({ type: 'error', error: { type: 'session_limit_reached', message: 'Full.' } })
      socket.on('message', (data: Buffer) => {
        const event = JSON.parse(data.toString('utf8')) as { session: Record<string, unknown> }
        updates.push(event.session)
        const next = answerWith ?? [answers.shift() ?? { type: 'session.updated', session: {} }]
        answerWith = undefined
        for (const answer of next) {
          if (answer !== 'hang up') tell(answer)
          else socket.close(1008)
        }
      })
    })
    await once(server, 'listening')
    try {
      await work(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/v1/realtime`, updates)
    } finally {
      for (const client of server.clients) client.terminate()
      server.close()
    }
  }

  const open = (url: string, settings: Partial<LinkSettings> = {}) =>
    openLink({ url, ...settings }, options, new AbortController().signal)

  it('gets the dialect that it describes', () =>
    withServer({ modalities: ['audio'], input_audio_format: 'pcm16' }, [], async (url, updates) => {
      const link = await open(url)
      assert.equal(link.dialect, 'beta')
      assert.equal(updates[0]?.['input_audio_format'], 'pcm16')
    }))

  const refusal = { type: 'error', error: { code: 'invalid_value', message: 'Unknown format.' } }

  it('is sent PCM, and another rate or G.711 where it refuses that', () =>
    withServer({ type: 'realtime' }, [refusal, refusal], async (url, updates) => {
      const link = await open(url)
      const inputs = updates.map(({ audio }) => (audio as { input: { format: object } }).input)
      assert.deepEqual(
        inputs.map(({ format }) => format),
        [
          { type: 'audio/pcm', rate: 24_000 },
          { type: 'audio/pcm', rate: 16_000 },
          { type: 'audio/pcmu' },
        ],
      )
      assert.deepEqual(link.wire.format, g711Wire)
    }))

  it('is sent the PCM that it describes, before or after it is asked', async () => {
    const described = { type: 'realtime', audio: { input: { format: pcmOf(16_000) } } }
    await withServer(described, [], async (url) =>
      assert.deepEqual((await open(url)).wire.format, pcmWire(16_000, 16_000)),
    )
    const updated = { type: 'session.updated', session: described }
    await withServer({ type: 'realtime' }, [updated], async (url, updates) => {
      assert.deepEqual((await open(url)).wire.format, pcmWire(16_000, 16_000))
      assert.equal(updates.length, 1)
    })
  })

  it('loses only the setting that it refuses, and is not asked for it again', () =>
    withServer(
      { type: 'realtime' },
      [
        { type: 'error', error: { message: "Unknown parameter: 'session.reasoning'." } },
        { type: 'session.updated', session: {} },
      ],
      async (url, updates) => {
        const tuning = { reasoningEffort: 'low', speed: 1.2, noiseReduction: 'near_field' } as const
        assert.deepEqual((await open(url, tuning)).refused, ['reasoning'])
        assert.deepEqual((await open(url, tuning)).refused, ['reasoning'])
        assert.deepEqual(
          updates.map((session) => 'reasoning' in session),
          [true, false, false],
        )
        const audio = updates[2]?.['audio'] ?? {}
        const { input, output } = audio as Record<string, Record<string, unknown>>
        assert.deepEqual(input?.['noise_reduction'], { type: 'near_field' })
        assert.equal(output?.['speed'], 1.2)
      },
    ))

  it('may complain before it takes the settings', () =>
    withServer({ type: 'realtime' }, [], async (url, updates) => {
      const complaint = { error: { message: 'Specifying `voice` is not supported.' } }
      answerWith = [
        { type: 'error', ...complaint },
        { type: 'session.updated', session: {} },
      ]
      assert.deepEqual((await open(url)).refused, [])
      assert.equal(updates.length, 1)
    }))

  it('says why when it hangs up', () =>
    withServer({ type: 'realtime' }, [], async (url) => {
      answerWith = ['hang up']
      await assert.rejects(open(url), { code: 'session_limit_reached' })
    }))

  it('reports when its session ends', () => {
    const expiresAt = Math.floor(Date.now() / 1000) + 1_800
    return withServer({ type: 'realtime', expires_at: expiresAt }, [], async (url) => {
      const { capMs = 0 } = await open(url)
      assert.ok(capMs > 1_790_000 && capMs <= 1_800_000, String(capMs))
    })
  })

  it('is not contacted in a private network when only public hosts are allowed', () =>
    withServer({}, [], async (url, updates) => {
      for (const address of [url, url.replace('127.0.0.1', 'localhost')]) {
        await assert.rejects(open(address, { publicHostsOnly: true }), EngineOpenError)
      }
      assert.deepEqual(updates, [])
    }))
})
