import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { minimalAgentFile } from '../../tests/support/organization-fixture.ts'
import { readConfig } from '../config.ts'
import type { OrganizationMode } from '../domains/organizations/organization-mode.ts'
import { checkAgentFile } from '../domains/agents/agent-definition.ts'
import { createEngineChoice } from './engines.ts'

const installation = {
  OUTDIAL_REALTIME_URL: 'wss://api.openai.com/v1/realtime',
  OUTDIAL_REALTIME_KEY: 'sk-realtime',
  OUTDIAL_REALTIME_MODEL: 'gpt-realtime',
  OUTDIAL_REALTIME_VOICE: 'marin',
  OUTDIAL_STT_URL: 'http://10.0.0.1/v1',
  OUTDIAL_STT_KEY: 'sk-stt',
  OUTDIAL_LLM_URL: 'http://10.0.0.2/v1',
  OUTDIAL_LLM_KEY: 'sk-llm',
  OUTDIAL_LLM_MODEL: 'qwen',
  OUTDIAL_TTS_URL: 'http://10.0.0.3/v1',
  OUTDIAL_TTS_KEY: 'sk-tts',
  OUTDIAL_TTS_VOICE: 'af_heart',
}

const choose = (
  engine: object | undefined,
  settings: Record<string, string> = installation,
  mode: OrganizationMode = 'sandbox',
) =>
  createEngineChoice(readConfig(settings), () => 'ws://127.0.0.1:1/v1/realtime')(
    checkAgentFile({ ...minimalAgentFile, ...(engine && { engine }) }),
    mode,
  )

describe("an agent's engine", () => {
  it('is the sandbox where nothing is said', () => {
    assert.deepEqual(choose(undefined, {}), {
      kind: 'realtime',
      url: 'ws://127.0.0.1:1/v1/realtime',
    })
  })

  it('is none for a live organization where nothing is said, and the sandbox in so many words', () => {
    const none = choose(undefined, {}, 'live')
    assert.match(
      typeof none === 'string' ? none : assert.fail('it is served'),
      /OUTDIAL_ENGINE is not set/,
    )
    const named = choose(undefined, { OUTDIAL_ENGINE: 'sandbox' }, 'live')
    assert.ok(typeof named === 'object' && 'url' in named && named.url.startsWith('ws://127.'))
    assert.equal(typeof choose({ kind: 'realtime', url: 'wss://a.example/' }, {}, 'live'), 'object')
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
      transcriber: { url: 'http://10.0.0.1/v1', key: 'sk-stt' },
      model: { url: 'http://10.0.0.2/v1', key: 'sk-llm', model: 'qwen' },
      speech: { url: 'http://10.0.0.3/v1', key: 'sk-tts', voice: 'af_heart' },
      publicHostsOnly: false,
    })
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
      assert.equal(settings.publicHostsOnly, true)
      const allowed = choose(engine, { ...installation, OUTDIAL_ALLOW_PRIVATE_NETWORK: '1' })
      assert.ok(typeof allowed === 'object' && allowed.publicHostsOnly === false)
    }
  })

  it('is explained where it cannot be served', () => {
    const sentence = (...asked: Parameters<typeof choose>): string => {
      const choice = choose(...asked)
      return typeof choice === 'string' ? choice : assert.fail('it is served')
    }
    assert.match(sentence({ kind: 'realtime' }, {}), /OUTDIAL_REALTIME_URL/)
    assert.match(sentence({ kind: 'cascade' }, {}), /OUTDIAL_STT_URL/)
  })

  it('is explained where an agent of an earlier version has an address that cannot be served', () => {
    const choice = createEngineChoice(
      readConfig(installation),
      () => 'ws://127.0.0.1:1/v1/realtime',
    )({ engine: { kind: 'cascade', url: 'wss://a.example/' } }, 'sandbox')
    assert.match(typeof choice === 'string' ? choice : assert.fail('it is served'), /http or https/)
  })
})
