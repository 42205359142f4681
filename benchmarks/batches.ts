/**
 * POST /batches with 1,000 inline recipients through the real HTTP server: new contacts, then the same contacts again.
 * PostgreSQL is the embedded one with fsync on. Usage: `npm run bench batches -- [rounds]`.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiRole } from '../src/compose/roles/api.ts'
import { maxBatchRecipients } from '../src/contract/batches.ts'
import { startEmbedded } from '../src/database/embedded-postgres.ts'
import { migrate } from '../src/database/migrate.ts'
import { openDatabase } from '../src/database/open-database.ts'
import { createApiKey } from '../src/domains/api-keys/create-api-key.ts'
import { createAgent } from '../src/domains/agents/create-agent.ts'
import { createOrganization } from '../src/domains/organizations/create-organization.ts'
import { systemTime } from '../src/runtime/time.ts'
import { newId } from '../src/runtime/ids.ts'
import { silentLogger } from '../src/runtime/logger.ts'
import { endCallAlone } from '../tests/support/call-ends.ts'

const goalMs = 300
const warmUpRounds = 3

const main = async (): Promise<void> => {
  const rounds = Number(process.argv[2] ?? 20)
  const folder = await mkdtemp(join(tmpdir(), 'outdial-bench-'))
  const server = await startEmbedded(folder)
  try {
    const { connection } = server
    const migrations = join(import.meta.dirname, '../migrations')
    await migrate({ connection, folder: migrations, logger: silentLogger })
    const database = openDatabase({ connection, logger: silentLogger })
    const organization = await createOrganization(database, { name: 'bench' })
    const agent = await createAgent(database, organization.id, agentFile)
    const key = await createApiKey(database, {
      organizationId: organization.id,
      name: 'bench',
      scopes: 'all',
    })
    const api = await createApiRole({
      database,
      host: '127.0.0.1',
      port: 0,
      publicUrl: () => 'http://127.0.0.1',
      endCall: endCallAlone,
      downloadUrls: { signDownloadUrl: () => '', clock: systemTime },
      isDraining: () => false,
      readiness: () => Promise.resolve({ isReady: true, checks: {} }),
      clock: systemTime,
      logger: silentLogger,
    })
    await api.start()
    const draft = timedDraft(`http://127.0.0.1:${api.port}`, key.secret, agent.id)
    const known = body(0)
    for (let round = 0; round < warmUpRounds; round += 1) await draft(body(-1 - round))
    const fresh: number[] = []
    const again: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      fresh.push(await draft(body(round)))
      again.push(await draft(known))
    }
    await api.stop()
    await database.stop()
    console.log(line('new contacts', fresh))
    console.log(line('known contacts', again))
    const slowest = Math.max(median(fresh), median(again))
    console.log(
      `batches: ${maxBatchRecipients} inline recipients are drafted in ${slowest.toFixed(0)} ms ` +
        `(p50 over ${rounds} rounds, the slower of new and known contacts) (goal ${goalMs} ms)`,
    )
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

const agentFile = { name: 'Bench', greeting: 'Hello.', prompt: 'Say hello.', voicemail: 'hang_up' }

/** Area codes of all American zones, so that a batch has lanes as a real one does. */
const areaCodes = [202, 212, 312, 602, 213, 808, 907, 303, 615, 469]

const body = (round: number): readonly object[] =>
  Array.from({ length: maxBatchRecipients }, (_, index) => {
    const area = areaCodes[index % areaCodes.length] ?? 202
    const exchange = 200 + ((round + 100) % 700)
    return {
      external_id: `${round}-${index}`,
      name: `Person ${index}`,
      phone_number: `+1${area}${exchange}${String(1000 + index)}`,
      email: `person-${index}@example.com`,
      company: 'Analytical Engines',
      city: 'London',
    }
  })

const timedDraft =
  (url: string, secret: string, agentId: string) =>
  async (recipients: readonly object[]): Promise<number> => {
    const text = JSON.stringify({ name: 'Bench', agent_id: agentId, recipients })
    const startedMs = performance.now()
    const response = await fetch(`${url}/batches`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        'idempotency-key': newId(),
      },
      body: text,
    })
    const answer = await response.text()
    if (response.status !== 201) throw new Error(answer)
    return performance.now() - startedMs
  }

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

const line = (what: string, values: readonly number[]): string =>
  `${what.padEnd(16)} p50 ${median(values).toFixed(0).padStart(5)} ms   max ${Math.max(...values)
    .toFixed(0)
    .padStart(5)} ms`

await main()
