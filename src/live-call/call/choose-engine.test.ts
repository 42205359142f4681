import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { minimalAgentFile } from '../../../tests/support/organization-fixture.ts'
import type { OrganizationMode } from '../../domains/organizations/organization-mode.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { StoredProvider } from '../../domains/providers/find-provider.ts'
import { checkAgentFile } from '../../domains/agents/agent-definition.ts'
import type { EngineSettings } from '../media/media-protocol.ts'
import { createEngineChoice, type InstalledEngines } from './choose-engine.ts'

const absent = { url: undefined, key: undefined, model: undefined, voice: undefined }
const nothing: InstalledEngines = {
  kind: undefined,
  realtime: absent,
  stt: absent,
  llm: absent,
  tts: absent,
}
const installation: InstalledEngines = {
  kind: undefined,
  realtime: {
    url: 'wss://api.openai.com/v1/realtime',
    key: 'sk-realtime',
    model: 'gpt-realtime',
    voice: 'marin',
  },
  stt: { ...absent, url: 'http://10.0.0.1/v1', key: 'sk-stt' },
  llm: { url: 'http://10.0.0.2/v1', key: 'sk-llm', model: 'qwen' },
  tts: { ...absent, url: 'http://10.0.0.3/v1', key: 'sk-tts', voice: 'af_heart' },
}
const organizationId = '018f0000-0000-7000-8000-000000000001' as OrganizationId
const stored: Readonly<Record<string, StoredProvider>> = Object.fromEntries(
  (
    [
      ['dg', 'deepgram-stt'],
      ['aai', 'assemblyai-stt'],
      ['eleven', 'elevenlabs-tts'],
    ] as const
  ).map(([name, kind]) => [
    name,
    {
      id: `id of ${name}`,
      name,
      kind,
      key: `key of ${name}`,
      url: undefined,
      model: undefined,
      voice: undefined,
    },
  ]),
)
const findProvider = (id: OrganizationId, name: string): StoredProvider | string =>
  (id === organizationId ? stored[name] : undefined) ?? `There is no provider ${name}.`

const sandboxUrl = () => 'ws://127.0.0.1:1/v1/realtime'

/** Whether each of the servers must be public. */
const guardsOf = (settings: EngineSettings): (boolean | undefined)[] =>
  settings.kind === 'realtime'
    ? [settings.publicHostsOnly]
    : [...settings.stt, ...settings.llm, ...settings.tts].map((each) => each.publicHostsOnly)

const choose = (
  engine: object | undefined,
  engines: InstalledEngines = installation,
  mode: OrganizationMode = 'sandbox',
  allowPrivateNetwork = false,
) =>
  createEngineChoice({ engines, allowPrivateNetwork, sandboxUrl, findProvider })(
    checkAgentFile({ ...minimalAgentFile, ...(engine && { engine }) }),
    mode,
    organizationId,
  )

describe("an agent's engine", () => {
  it('is the sandbox by default', () => {
    assert.deepEqual(choose(undefined, nothing), {
      kind: 'realtime',
      url: 'ws://127.0.0.1:1/v1/realtime',
      wireFormat: { kind: 'g711' },
    })
  })

  it('asks of the realtime server what the agent wants, else what the installation wants', () => {
    const tuned = {
      ...installation,
      kind: 'realtime',
      realtime: { ...installation.realtime, transcriptionModel: 'mine', speed: 1.1 },
    } as const
    const own = { kind: 'realtime', speed: 0.9, keywords: ['Acme'] }
    const chosen = choose(own, tuned) as Record<string, unknown>
    assert.deepEqual(
      [chosen.transcriptionModel, chosen.speed, chosen.keywords],
      ['mine', 0.9, ['Acme']],
    )
    // The installation's names mean nothing to another server.
    const elsewhere = choose({ ...own, url: 'wss://voice.example.com/v1/realtime' }, tuned)
    assert.ok(typeof elsewhere === 'object' && !('transcriptionModel' in elsewhere))
    assert.throws(() => choose({ kind: 'cascade', speed: 1 }), /engine/)
  })

  it('is none for a live organization by default, and the sandbox if set explicitly', () => {
    const none = choose(undefined, nothing, 'live')
    assert.match(
      typeof none === 'string' ? none : assert.fail('it is served'),
      /OUTDIAL_ENGINE is not set/,
    )
    const named = choose(undefined, { ...nothing, kind: 'sandbox' }, 'live')
    assert.ok(typeof named === 'object' && 'url' in named && named.url.startsWith('ws://127.'))
    assert.equal(
      typeof choose({ kind: 'realtime', url: 'wss://a.example/' }, nothing, 'live'),
      'object',
    )
  })

  it("is the installation's, with its key, model and voice", () => {
    assert.deepEqual(choose({ kind: 'realtime', model: 'mini' }), {
      kind: 'realtime',
      url: 'wss://api.openai.com/v1/realtime',
      key: 'sk-realtime',
      model: 'mini',
      voice: 'marin',
      publicHostsOnly: false,
    })
    assert.deepEqual(choose({ kind: 'cascade' }), {
      kind: 'cascade',
      stt: [
        {
          name: 'env',
          id: 'env stt',
          url: 'http://10.0.0.1/v1',
          key: 'sk-stt',
          publicHostsOnly: false,
          kind: 'openai-stt',
        },
      ],
      llm: [
        {
          name: 'env',
          id: 'env llm',
          url: 'http://10.0.0.2/v1',
          key: 'sk-llm',
          model: 'qwen',
          publicHostsOnly: false,
          kind: 'openai-chat',
        },
      ],
      tts: [
        {
          name: 'env',
          id: 'env tts',
          url: 'http://10.0.0.3/v1',
          key: 'sk-tts',
          publicHostsOnly: false,
          voice: 'af_heart',
          kind: 'openai-tts',
        },
      ],
    })
  })

  it('names providers in the order of failover, and else uses those of the environment', () => {
    const settings = choose({ kind: 'cascade', stt: ['dg', 'aai', 'env'], tts: ['eleven'] })
    assert.ok(typeof settings === 'object' && settings.kind === 'cascade')
    assert.deepEqual(
      settings.stt.map(({ name, kind, key }) => [name, kind, key]),
      [
        ['dg', 'deepgram-stt', 'key of dg'],
        ['aai', 'assemblyai-stt', 'key of aai'],
        ['env', 'openai-stt', 'sk-stt'],
      ],
    )
    assert.deepEqual(
      [...settings.llm, ...settings.tts].map(({ name, key }) => [name, key]),
      [
        ['env', 'sk-llm'],
        ['eleven', 'key of eleven'],
      ],
    )
  })

  it('cannot be served with a provider that does not exist, or does something else', () => {
    for (const [engine, sentence] of [
      [{ kind: 'cascade', stt: ['gone'] }, /no provider gone/],
      [{ kind: 'cascade', tts: ['dg'] }, /dg is of the kind deepgram-stt, which serves no tts/],
    ] as const) {
      const choice = choose(engine)
      assert.match(typeof choice === 'string' ? choice : assert.fail('it is served'), sentence)
    }
  })

  it("never gets the installation's keys at an address of its own, which must be public", () => {
    for (const engine of [
      { kind: 'realtime', url: 'wss://evil.example/v1/realtime' },
      { kind: 'realtime', url: 'https://evil.example/v1/realtime' },
      { kind: 'cascade', url: 'https://evil.example/v1' },
    ]) {
      const settings = choose(engine)
      assert.ok(typeof settings === 'object')
      assert.ok(!JSON.stringify(settings).includes('sk-'))
      assert.ok(!JSON.stringify(settings).includes('10.0.0.'))
      assert.deepEqual([...new Set(guardsOf(settings))], [true])
      const allowed = choose(engine, installation, 'sandbox', true)
      assert.ok(typeof allowed === 'object')
      assert.deepEqual([...new Set(guardsOf(allowed))], [false])
    }
  })

  it('has an explanation if it cannot be served', () => {
    const sentence = (...asked: Parameters<typeof choose>): string => {
      const choice = choose(...asked)
      return typeof choice === 'string' ? choice : assert.fail('it is served')
    }
    assert.match(sentence({ kind: 'realtime' }, nothing), /OUTDIAL_REALTIME_URL/)
    assert.match(sentence({ kind: 'cascade' }, nothing), /OUTDIAL_STT_URL/)
  })

  it('has an explanation if an agent of an earlier version has an address that cannot be served', () => {
    const choice = createEngineChoice({
      engines: installation,
      allowPrivateNetwork: false,
      sandboxUrl,
      findProvider,
    })({ engine: { kind: 'cascade', url: 'wss://a.example/' } }, 'sandbox', organizationId)
    assert.match(typeof choice === 'string' ? choice : assert.fail('it is served'), /http or https/)
  })
})
