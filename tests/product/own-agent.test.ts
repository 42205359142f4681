// Runs beside others: it waits for most of its 40 s.
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { freeTcpPort } from '../support/free-port.ts'
import {
  askOutdial,
  createInstallation,
  everyCommand,
  runOutdial,
  startOutdial,
  type OutdialProcess,
} from '../support/outdial-process.ts'
import { sandboxOrganization } from '../support/sandbox-tenant.ts'
import { until } from '../support/until.ts'

/** docs/agents.md, step by step: your own agent on your own provider. */

const examples = join(import.meta.dirname, '../../docs/examples')
let provider: ChildProcess
let installation: Awaited<ReturnType<typeof createInstallation>>
let outdial: OutdialProcess
let org: string

before(async () => {
  const port = await freeTcpPort()
  provider = spawn(process.execPath, [join(examples, 'scripted-provider.ts'), String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  assert.ok(provider.stdout)
  await once(provider.stdout, 'data')
  const url = `http://127.0.0.1:${port}/v1`
  installation = await createInstallation({
    OUTDIAL_ENGINE: 'cascade',
    OUTDIAL_STT_URL: url,
    OUTDIAL_LLM_URL: url,
    OUTDIAL_LLM_MODEL: 'scripted',
    OUTDIAL_LLM_KEY: 'sk-never-shown',
    OUTDIAL_TTS_URL: url,
    OUTDIAL_PRICES: join(examples, 'prices.json'),
  })
  outdial = await startOutdial(installation.env)
  org = await sandboxOrganization(installation.env)
})

after(async () => {
  provider.kill()
  await outdial.stop()
  installation.remove()
})

interface ShownCall {
  readonly outcome: string
  readonly turns: readonly { readonly speaker: string; readonly text: string }[]
  readonly results: readonly { readonly kind: string; readonly status: string }[]
  readonly usage: readonly {
    readonly purpose: string
    readonly engine: string
    readonly model: string
    readonly cost_microusd: number
    readonly first_words_ms: number
  }[]
  readonly latencies: readonly { readonly own_ms: number }[]
}

test('an agent from its file calls through three servers, and reports its usage', async () => {
  const file = join(examples, 'agent.json')
  const agent = await askOutdial<{ id: string }>(
    installation.env,
    'agent',
    'create',
    '--org',
    org,
    '--file',
    file,
  )
  const { version } = await askOutdial<{ version: number }>(
    installation.env,
    'agent',
    'publish',
    agent.id,
    '--file',
    file,
  )
  assert.equal(version, 2)
  const call = await askOutdial<{ id: string; status: string; answer_status: string }>(
    installation.env,
    ...`dial +12025550100 --org ${org} --agent ${agent.id} --follow`.split(' '),
  )
  assert.deepEqual([call.status, call.answer_status], ['completed', 'answered'])
  const shown = await until(
    'the summary',
    async () => {
      const answer = await askOutdial<ShownCall>(installation.env, 'call', 'show', call.id)
      const summary = answer.results.find(({ kind }) => kind === 'summary')
      return summary?.status === 'ready' ? answer : undefined
    },
    everyCommand,
  )
  const said = shown.turns.map(({ text }) => text)
  assert.ok(
    said.includes('I am calling to offer your next appointment on Tuesday morning.'),
    said.join('\n'),
  )
  assert.deepEqual(
    shown.usage.map(({ purpose, engine, model }) => [purpose, engine, model]),
    [
      ['conversation', 'cascade', 'scripted'],
      ['summary', 'chat', 'scripted'],
    ],
  )
  assert.ok(shown.usage.every(({ cost_microusd: cost }) => cost > 0))
  assert.ok((shown.usage[0]?.first_words_ms ?? 0) > 0)
  assert.ok(shown.latencies.length >= 3)
  assert.ok(!outdial.output().includes('sk-never-shown'))
  assert.ok(!said.some((text) => outdial.output().includes(text)))
})

test('an engine in a private network is not contacted for an agent file', async () => {
  const file = JSON.parse(await readFile(join(examples, 'agent.json'), 'utf8')) as object
  const path = join(installation.data, 'private.json')
  const engine = { kind: 'cascade', url: 'http://127.0.0.1:1/v1' }
  await writeFile(path, JSON.stringify({ ...file, engine }))
  const agent = await askOutdial<{ id: string }>(
    installation.env,
    'agent',
    'create',
    '--org',
    org,
    '--file',
    path,
  )
  const call = await askOutdial<{ status: string }>(
    installation.env,
    ...`dial +12025550106 --org ${org} --agent ${agent.id} --follow`.split(' '),
  )
  assert.equal(call.status, 'failed')
})

test('reprocessing does nothing without an exhausted result', async () => {
  const refused = await runOutdial(
    installation.env,
    'call',
    'reprocess',
    '019d3f5e-77d2-7c31-9f4e-2f6a1b0c9d11',
  )
  assert.equal(refused.status, 1)
  assert.match(refused.stderr, /no call/)
})
