// One server of the comparison in its own process, chosen by its first argument. Sends its port when it listens,
// and its CPU time so far on request.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { createApiRole } from '../../src/compose/roles/api.ts'
import { operations } from '../../src/contract/operations.ts'
import type { KeyPrincipal } from '../../src/contract/principal.ts'
import { scopes } from '../../src/contract/scopes.ts'
import { latestVersion } from '../../src/contract/versions.ts'
import type { Database } from '../../src/database/database.ts'
import type { ApiHandlers } from '../../src/domains/api-handler.ts'
import { openDatabase } from '../../src/database/open-database.ts'
import { authenticateKeys } from '../../src/domains/api-keys/authenticate-key.ts'
import { callColumns, callResource, type CallRow } from '../../src/domains/calls/call-record.ts'
import { createApiServer } from '../../src/http/api-server.ts'
import { systemTime } from '../../src/runtime/time.ts'
import { newId } from '../../src/runtime/ids.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import type { Service } from '../../src/runtime/service.ts'
import type { Stage } from './stage.ts'
import { endCallAlone } from '../../tests/support/call-ends.ts'

export const candidates = ['bare-get', 'bare-post', 'ours', 'bare-parse', 'kernel'] as const
export type Candidate = (typeof candidates)[number]

const poolSize = 20

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void>

/** The headers of all our responses, so that the bare servers send as many bytes. */
const headersOf = (body: string, bucket: string) => ({
  'X-Request-Id': 'req_0123456789012345678901',
  'Service-Version': latestVersion,
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'RateLimit-Limit': '10000000',
  'RateLimit-Remaining': '9999999',
  'RateLimit-Reset': '60',
  'RateLimit-Policy': `"${bucket}";q=10000000;w=60`,
  'Content-Type': 'application/json; charset=utf-8',
  'Content-Length': Buffer.byteLength(body),
})

/** The minimum for GET /calls/{id}: the row by a prepared statement, as JSON. */
const bareGet =
  ({ organizationId }: Stage, pool: pg.Pool): Answer =>
  async (request, response) => {
    const id = (request.url ?? '').slice('/calls/'.length)
    const { rows } = await pool.query<CallRow>({
      name: 'bare-get',
      text: `select id, ${callColumns} from calls where organization_id = $1 and id = $2 and origin = 'api'`,
      values: [organizationId, id],
    })
    const [row] = rows
    if (!row) throw new Error('no row')
    const body = JSON.stringify(callResource(row))
    response.writeHead(200, headersOf(body, 'read')).end(body)
  }

/** The minimum for POST /calls: one INSERT, neither checked nor idempotent. */
const barePost =
  ({ organizationId, laneId }: Stage, pool: pg.Pool): Answer =>
  async (request, response) => {
    const input = JSON.parse((await readAll(request)).toString()) as Record<string, string>
    const { rows } = await pool.query<CallRow>({
      name: 'bare-post',
      text: `insert into calls (organization_id, id, origin, contact_id, agent_id, agent_version, phone_number, lane_id)
             values ($1, $2, 'api', $3, $4, 1, '+12025550100', $5)
             returning id, ${callColumns}`,
      values: [organizationId, newId(), input['contact_id'], input['agent_id'], laneId],
    })
    const [row] = rows
    if (!row) throw new Error('no row')
    const body = JSON.stringify(callResource(row))
    const headers = { ...headersOf(body, 'execution'), Location: `/calls/${row.id}` }
    response.writeHead(202, headers).end(body)
  }

const answer = JSON.stringify(operations.upsertContact.example)

/** The minimum for a POST of JSON. */
const bareParse: Answer = async (request, response) => {
  JSON.parse((await readAll(request)).toString())
  response.writeHead(201, headersOf(answer, 'write')).end(answer)
}

const readAll = (request: IncomingMessage): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('error', reject)
  })

const listenBare = (answerRequest: Answer): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer((request, response) => {
      answerRequest(request, response).catch((error: Error) => response.destroy(error))
    }).listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })

const startOurs = async ({ connection }: Stage): Promise<number> => {
  const database = openDatabase({ connection, logger: silentLogger, maxConnections: poolSize })
  return listenOurs(
    await createApiRole({
      database,
      host: '127.0.0.1',
      port: 0,
      publicUrl: () => 'http://127.0.0.1',
      endCall: endCallAlone,
      downloadUrls: { signDownloadUrl: () => 'http://127.0.0.1/x', clock: systemTime },
      isDraining: () => false,
      readiness: async () => ({ isReady: true, checks: {} }),
      clock: systemTime,
      logger: silentLogger,
    }),
  )
}

/** Every step of the kernel over a handler that does nothing. */
const startKernel = async ({ organizationId, rateLimits }: Stage): Promise<number> => {
  const principal: KeyPrincipal = {
    kind: 'key',
    organizationId,
    apiKeyId: newId(),
    scopes,
    publicApiEnabled: true,
    defaultVersion: latestVersion,
    rateLimits,
    keyRateLimits: {},
  }
  const upsertContact = async () => ({ status: 201, body: operations.upsertContact.example })
  const handlers = { upsertContact } as unknown as ApiHandlers<unknown>
  const server = createApiServer({
    operations,
    handlers,
    parts: undefined,
    database: withoutRows,
    authenticate: authenticateKeys(async () => principal, systemTime),
    cursorSecrets: [Buffer.alloc(32, 1)],
    logger: silentLogger,
    host: '127.0.0.1',
    port: 0,
    isDraining: () => false,
    readiness: async () => ({ isReady: true, checks: {} }),
  })
  return listenOurs(server)
}

const withoutRows: Database = {
  rows: async () => [],
  row: async () => undefined,
  run: async () => 1,
  transaction: (work) =>
    work({
      ...withoutRows,
      withCommit: () => {},
      afterCommit: () => {},
      hintAfterCommit: () => {},
    }),
  listen: async () => ({ stop: async () => {} }),
  hint: () => {},
  stop: async () => {},
}

const listenOurs = async (server: Service & { readonly port: number }): Promise<number> => {
  await server.start()
  return server.port
}

const start = (candidate: Candidate, stage: Stage): Promise<number> => {
  const pool = () => new pg.Pool({ ...stage.connection, max: poolSize })
  switch (candidate) {
    case 'bare-get':
      return listenBare(bareGet(stage, pool()))
    case 'bare-post':
      return listenBare(barePost(stage, pool()))
    case 'bare-parse':
      return listenBare(bareParse)
    case 'ours':
      return startOurs(stage)
    case 'kernel':
      return startKernel(stage)
  }
}

const isCandidate = (text: string | undefined): text is Candidate =>
  candidates.some((candidate) => candidate === text)

if (process.send) {
  const [, , candidate, stage] = process.argv
  if (!isCandidate(candidate)) throw new Error(`no candidate ${candidate}`)
  const port = await start(candidate, JSON.parse(stage ?? '{}') as Stage)
  process.on('message', () => process.send?.({ cpu: process.cpuUsage() }))
  process.on('disconnect', () => process.exit())
  process.send({ port })
}
