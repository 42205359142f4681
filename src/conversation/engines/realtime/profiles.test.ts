import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import { WebSocketServer } from 'ws'
import { EngineOpenError } from '../../engine/voice-engine.ts'
import { openLink, type LinkSettings } from './open-link.ts'
import { addressOf, profileFor } from './profiles.ts'
import { sessionUpdate } from './session-update.ts'

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
    transcriptionModel: 't',
    wireFormat: 'g711',
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
      input: { format: { type: 'audio/pcmu' } },
      output: { format: { type: 'audio/pcmu' } },
    })
    assert.equal(xai['voice'], 'v')
    assert.ok(xai['turn_detection'])
  })
})

describe('an unknown server', () => {
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
      socket.on('message', (data: Buffer) => {
        const event = JSON.parse(data.toString('utf8')) as { session: Record<string, unknown> }
        updates.push(event.session)
        tell(answers.shift() ?? { type: 'session.updated', session: {} })
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
      assert.equal(updates[0]?.['input_audio_format'], 'g711_ulaw')
    }))

  it('is sent PCM when it refuses G.711', () =>
    withServer(
      { type: 'realtime' },
      [{ type: 'error', error: { code: 'invalid_value', message: 'Unsupported audio format.' } }],
      async (url, updates) => {
        const link = await open(url)
        assert.equal(updates.length, 2)
        assert.deepEqual(link.wire.format, { type: 'audio/pcm', rate: 24_000 })
      },
    ))

  it('is sent PCM when it ignores the request for G.711', () =>
    withServer(
      { type: 'realtime' },
      [
        {
          type: 'session.updated',
          session: { audio: { input: { format: { type: 'audio/pcm' } } } },
        },
      ],
      async (url, updates) => {
        const link = await open(url)
        assert.equal(updates.length, 1)
        assert.deepEqual(link.wire.format, { type: 'audio/pcm', rate: 24_000 })
      },
    ))

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
