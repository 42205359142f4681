/**
 * The API against the minimal equivalent, alternating in fresh processes over one embedded PostgreSQL with fsync
 * on: GET /calls/{id} against node:http and one prepared query, idempotent POST /calls against a bare INSERT, and
 * the kernel over a handler that does nothing against node:http that only parses. The result is the median of the
 * ratios of each round, because the machine's variations affect both alike. Usage: `npm run bench api -- [rounds]
 * [seconds]`.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '../src/database/embedded-postgres.ts'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/open-database.ts'
import { operations } from '../src/contract/operations.ts'
import { silentLogger } from '../src/runtime/logger.ts'
import type { Candidate } from './api/candidates.ts'
import { closedLoop, openLoop, type MakeRequest } from './api/load.ts'
import { setStage, type Stage } from './api/stage.ts'

const rounds = Number(process.argv[2] ?? 7)
const secondsPerTurn = Number(process.argv[3] ?? 4)
/** Uncounted requests; the optimizing compiler is done by then. */
const warmUpRequests = 20_000
const connections = 16
/** Enough that the open loop rarely waits for a free connection. */
const openLoopConnections = 64

interface Comparison {
  readonly name: string
  readonly bare: Candidate
  readonly ours: Candidate
  readonly goal: number
  readonly expectedStatus: number
  readonly make: (stage: Stage) => MakeRequest
}

const get =
  ({ key, callIds }: Stage): MakeRequest =>
  (serial) =>
    `GET /calls/${callIds[serial % callIds.length]} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${key}\r\n\r\n`

const post = (path: string, key: string, serial: number, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
  `Idempotency-Key: bench-${process.pid}-${serial}\r\nContent-Length: ${body.length}\r\n\r\n${body}`

const postCall =
  ({ key, agentId, contactIds }: Stage): MakeRequest =>
  (serial) =>
    post(
      '/calls',
      key,
      serial,
      `{"agent_id":"${agentId}","contact_id":"${contactIds[serial % contactIds.length]}"}`,
    )

const postContact = ({ key }: Stage): MakeRequest => {
  const body = JSON.stringify(operations.upsertContact.bodyExample)
  return (serial) => post('/contacts', key, serial, body)
}

const comparisons: readonly Comparison[] = [
  { name: 'GET', bare: 'bare-get', ours: 'ours', goal: 0.8, expectedStatus: 200, make: get },
  { name: 'POST', bare: 'bare-post', ours: 'ours', goal: 0.6, expectedStatus: 202, make: postCall },
  {
    name: 'kernel',
    bare: 'bare-parse',
    ours: 'kernel',
    goal: 0.7,
    expectedStatus: 201,
    make: postContact,
  },
]

interface Turn {
  readonly perSecond: number
  readonly cpuMicros: number
}

const main = async (): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'outdial-bench-'))
  const server = await startEmbedded(folder)
  try {
    const { connection } = server
    const migrations = join(import.meta.dirname, '../migrations')
    await migrate({ connection, folder: migrations, logger: silentLogger })
    const database = openDatabase({ connection, logger: silentLogger })
    const stage = await setStage(connection, database)
    await database.stop()
    const wanted = process.argv[4]
    const lines: string[] = []
    for (const comparison of comparisons)
      if (wanted === undefined || wanted === comparison.name)
        lines.push(await compare(comparison, stage))
    console.log(`api: ${lines.join('; ')} of bare throughput`)
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

const compare = async (comparison: Comparison, stage: Stage): Promise<string> => {
  const pairs: { bare: Turn; ours: Turn }[] = []
  for (let round = 0; round < rounds; round += 1) {
    const bare = await takeTurn(comparison, comparison.bare, stage)
    const ours = await takeTurn(comparison, comparison.ours, stage)
    pairs.push({ bare, ours })
    console.log(`${comparison.name} round ${round + 1}: bare ${show(bare)}, ours ${show(ours)}`)
  }
  const throughput = median(pairs.map(({ bare, ours }) => ours.perSecond / bare.perSecond))
  const cpu = median(pairs.map(({ bare, ours }) => bare.cpuMicros / ours.cpuMicros))
  const rate = median(pairs.map(({ ours }) => ours.perSecond)) / 2
  const p99 = await p99AtRate(comparison, comparison.ours, stage, rate)
  const p99OfBare = await p99AtRate(comparison, comparison.bare, stage, rate)
  console.log(
    `${comparison.name}: throughput ${throughput.toFixed(2)}, CPU ${cpu.toFixed(2)} of bare, p99 ${p99.toFixed(1)} ms (bare ${p99OfBare.toFixed(1)}) at ${rate.toFixed(0)}/s`,
  )
  return `${comparison.name} ${throughput.toFixed(2)} (goal ${comparison.goal.toFixed(2)})`
}

const show = ({ perSecond, cpuMicros }: Turn): string =>
  `${perSecond.toFixed(0)}/s ${cpuMicros.toFixed(1)} µs`

const takeTurn = async (
  { make, expectedStatus }: Comparison,
  candidate: Candidate,
  stage: Stage,
): Promise<Turn> => {
  const child = await startCandidate(candidate, stage)
  const load = { port: child.port, make: make(stage), expectedStatus, connections, isWakeful: true }
  await closedLoop({ ...load, durationMs: 0, minRequests: warmUpRequests })
  const before = await child.cpuMicros()
  const { requests, seconds } = await closedLoop({ ...load, durationMs: secondsPerTurn * 1000 })
  const used = (await child.cpuMicros()) - before
  await child.stop()
  return { perSecond: requests / seconds, cpuMicros: used / requests }
}

const p99AtRate = async (
  { make, expectedStatus }: Comparison,
  candidate: Candidate,
  stage: Stage,
  perSecond: number,
): Promise<number> => {
  const child = await startCandidate(candidate, stage)
  const load = { port: child.port, make: make(stage), expectedStatus }
  await closedLoop({ ...load, connections, durationMs: 0, minRequests: warmUpRequests })
  const latencies = await openLoop({
    ...load,
    connections: openLoopConnections,
    durationMs: secondsPerTurn * 2000,
    perSecond,
  })
  await child.stop()
  return latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length * 0.99)] ?? 0
}

const startCandidate = async (candidate: Candidate, stage: Stage) => {
  const file = join(import.meta.dirname, 'api/candidates.ts')
  const child = fork(file, [candidate, JSON.stringify(stage)])
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return {
    port,
    async cpuMicros(): Promise<number> {
      child.send('cpu')
      const [{ cpu }] = (await once(child, 'message')) as [{ cpu: NodeJS.CpuUsage }]
      return cpu.user + cpu.system
    },
    async stop(): Promise<void> {
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
    },
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

await main()
