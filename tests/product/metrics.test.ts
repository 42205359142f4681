// Runs beside others: it waits for most of its 20 s.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { counters, gauges, histograms } from '../../src/runtime/metric-list.ts'
import { terminalStates } from '../support/api-client.ts'
import { freeTcpPort } from '../support/free-port.ts'
import {
  createInstallation,
  runOutdial,
  startOutdial,
  type OutdialProcess,
} from '../support/outdial-process.ts'
import { openSandboxTenant } from '../support/sandbox-tenant.ts'
import { until } from '../support/until.ts'

const declared = { ...counters, ...histograms, ...gauges }

let installation: Awaited<ReturnType<typeof createInstallation>>
let outdial: OutdialProcess
let url: string

before(async () => {
  const port = String(await freeTcpPort())
  url = `http://127.0.0.1:${port}`
  installation = await createInstallation({ OUTDIAL_METRICS_PORT: port })
  outdial = await startOutdial(installation.env)
})
after(async () => {
  await outdial?.stop()
  installation?.remove()
})

const scrape = async (): Promise<string> => {
  const response = await fetch(`${url}/metrics`)
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
  return response.text()
}

/** The value of a series, by its beginning. */
const valueOf = (text: string, series: string): number => {
  const line = text.split('\n').find((each) => each.startsWith(series))
  return Number(line?.slice(line.lastIndexOf(' ')) ?? Number.NaN)
}

test('a call over the sandbox moves the metrics, and each declared one is there', async () => {
  const { agent, api } = await openSandboxTenant(outdial)
  const number = '+12025550100'
  const placed = await api.post('/calls', {
    agent_id: agent,
    recipient: { external_id: number, name: 'Ada Lovelace', phone_number: number },
  })
  assert.equal(placed.status, 202)
  await until(
    'the call to end',
    async () => {
      const { body } = await api.get(`/calls/${String(placed.body['id'])}`)
      return terminalStates.includes(String(body['status'])) || undefined
    },
    { timeoutMs: 120_000 },
  )
  const text = await until(
    'the job after the call',
    async () => {
      const scraped = await scrape()
      return valueOf(scraped, 'outdial_jobs_total{result="done"}') > 0 ? scraped : undefined
    },
    { timeoutMs: 60_000, everyMs: 500 },
  )
  for (const [name, { type, help }] of Object.entries(declared)) {
    assert.ok(text.includes(`# TYPE ${name} ${type}\n`), name)
    assert.ok(text.includes(`# HELP ${name} ${help}\n`), name)
  }
  const moved = [
    'outdial_calls_claimed_total ',
    'outdial_calls_ended_total{status="completed",answer="answered"}',
    'outdial_reply_seconds_count',
    'outdial_rtp_packets_total{direction="from_callee"}',
    'outdial_rtp_packets_total{direction="to_callee"}',
    'outdial_rtp_jitter_seconds_count{direction="from_callee"}',
    'outdial_call_mos_count{direction="from_callee"}',
    'outdial_http_requests_total{operation="placeCall",status="202"}',
    'outdial_http_request_seconds_count{operation="placeCall"}',
    'outdial_build_info',
    'outdial_scrape_complete',
    'outdial_channels_limit',
    'outdial_media_capacity_calls',
    'process_cpu_seconds_total',
  ]
  for (const series of moved) assert.ok(valueOf(text, series) > 0, `${series} in ${text}`)
  for (const series of ['outdial_live_calls', 'outdial_queued_calls'])
    assert.equal(valueOf(text, `${series} `), 0, series)
  assert.ok(!text.includes('2025550100'), 'a phone number is a label')
})

test('the port answers nothing else', async () => {
  assert.equal((await fetch(`${url}/`)).status, 404)
  assert.equal((await fetch(`${url}/metrics`, { method: 'POST', body: 'x' })).status, 404)
  const head = await fetch(`${url}/metrics`, { method: 'HEAD' })
  assert.deepEqual([head.status, await head.text()], [200, ''])
})

test('a port in use is a start error that names its setting', async () => {
  const other = await createInstallation({
    OUTDIAL_METRICS_PORT: new URL(url).port,
    OUTDIAL_LOG_LEVEL: 'error',
  })
  const { status, stderr } = await runOutdial(other.env, 'start')
  other.remove()
  assert.equal(status, 1)
  assert.match(stderr, /^Port \d+ is in use .* OUTDIAL_METRICS_PORT to a free port\.$/m)
})

test('docs/metrics.md has each metric with its type, labels and meaning', () => {
  const document = readFileSync(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8')
  const rows = document
    .split('\n')
    .filter((line) => line.startsWith('| `outdial_'))
    .map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    )
  assert.deepEqual(
    rows,
    Object.entries(declared).map(([name, { type, labels, help }]) => [
      `\`${name}\``,
      type,
      labels.map((label) => `\`${label}\``).join(', ') || '–',
      help,
    ]),
  )
})
