import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ConfigError, readConfig } from './read-config.ts'
import { settings, settingsOf } from './settings.ts'

const refusal = (env: Record<string, string>): string => {
  try {
    readConfig(env)
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.message
  }
  assert.fail('expected a ConfigError')
}

test('an empty environment gives the documented defaults', () => {
  const config = readConfig({})
  assert.equal(config.http.apiPort, 4000)
  assert.deepEqual(config.sip.rtpPorts, { min: 10_000, max: 20_000 })
  assert.equal(config.engines.kind, undefined, 'only what is said in so many words counts')
  assert.equal(config.store.databaseUrl, undefined)
})

test('each setting has its place in one group', () => {
  const names = settingsOf(settings).map(({ name }) => name)
  assert.ok(names.length > 40, `only ${names.length} settings`)
  assert.deepEqual([...new Set(names)], names)
  const { engines } = readConfig({ OUTDIAL_LLM_URL: 'http://llm.test/v1', OUTDIAL_LLM_KEY: 'k' })
  assert.deepEqual(engines.llm, { url: 'http://llm.test/v1', key: 'k', model: undefined })
})

test('an unknown name is refused with the nearest one', () => {
  assert.match(refusal({ OUTDIAL_API_PROT: '1' }), /OUTDIAL_API_PROT .* OUTDIAL_API_PORT\?/)
  assert.match(refusal({ OUTDIAL_REALTIME_MODLE: 'x' }), /did you mean OUTDIAL_REALTIME_MODEL\?/)
})

test('names of other programs are ignored', () => {
  assert.doesNotThrow(() => readConfig({ PATH: '/bin', DATABASE_PASSWORD: 'x' }))
})

const wrong: [string, string, RegExp][] = [
  ['OUTDIAL_API_PORT', '65536', /from 0 to 65535/],
  ['OUTDIAL_API_PORT', 'http', /whole number/],
  ['OUTDIAL_RTP_PORTS', '20000-10000', /at least four ports/],
  ['OUTDIAL_RTP_PORTS', '5', /a range such as/],
  ['OUTDIAL_RING_TIMEOUT_SECONDS', '61', /from 1 to 60/],
  ['OUTDIAL_ENGINE', 'magic', /sandbox, realtime or cascade/],
  ['OUTDIAL_REALTIME_URL', 'http://x', /ws:\/\/ or wss:\/\//],
  ['DATABASE_URL', 'mysql://x', /postgres:\/\//],
  ['OUTDIAL_CALLER_ID', '0123', /E\.164/],
  ['OUTDIAL_PUBLIC_IP', 'example.org', /IP address/],
  ['OUTDIAL_ALLOW_PRIVATE_NETWORK', 'yes', /0 or 1/],
]
for (const [name, value, message] of wrong)
  test(`${name}=${value} is refused by name and reason`, () => {
    const told = refusal({ [name]: value })
    assert.ok(told.startsWith(name), told)
    assert.match(told, message)
  })

test('every problem is reported at once', () => {
  assert.equal(refusal({ OUTDIAL_API_PORT: 'x', OUTDIAL_MAX_CPS: '0' }).split('\n').length, 2)
})

test('an engine that needs a server is refused without its address', () => {
  assert.match(refusal({ OUTDIAL_ENGINE: 'realtime' }), /OUTDIAL_REALTIME_URL/)
  assert.match(refusal({ OUTDIAL_ENGINE: 'cascade' }), /OUTDIAL_STT_URL/)
})

test('a bucket is refused half configured', () => {
  assert.match(refusal({ OUTDIAL_S3_ENDPOINT: 'https://s3.example' }), /OUTDIAL_S3_BUCKET must/)
  assert.match(
    refusal({ OUTDIAL_S3_BUCKET: 'calls', OUTDIAL_S3_ACCESS_KEY_ID: 'id' }),
    /go together/,
  )
  for (const prefix of ['/a', 'a/', '../a', 'a//b', ' '])
    assert.match(refusal({ OUTDIAL_S3_BUCKET: 'calls', OUTDIAL_S3_PREFIX: prefix }), /a path/)
  const { prefix, region } = readConfig({
    OUTDIAL_S3_BUCKET: 'calls',
    OUTDIAL_S3_PREFIX: 'outdial/eu-1',
  }).bucket
  assert.deepEqual([prefix, region], ['outdial/eu-1', 'us-east-1'])
})

test('a secret is read from its file, and two sources are refused', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'outdial-config-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'key')
  writeFileSync(file, 'top secret\n')
  assert.equal(readConfig({ OUTDIAL_LLM_KEY_FILE: file }).engines.llm.key, 'top secret')
  assert.match(refusal({ OUTDIAL_LLM_KEY_FILE: file, OUTDIAL_LLM_KEY: 'x' }), /both set/)
  assert.match(refusal({ OUTDIAL_LLM_KEY_FILE: `${file}.gone` }), /cannot be read/)
  writeFileSync(file, '\n')
  assert.equal(
    refusal({ OUTDIAL_LLM_KEY_FILE: file }),
    `OUTDIAL_LLM_KEY_FILE names an empty file: ${file}.`,
  )
})
