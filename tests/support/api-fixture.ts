import { makeApiKey } from '../../src/domains/api-keys/api-key-format.ts'
import { administratorArea } from '../../src/contract/api-keys.ts'
import { defaultRateLimits } from '../../src/contract/buckets.ts'
import { operations } from '../../src/contract/operations.ts'
import { scopes } from '../../src/contract/scopes.ts'
import { latestVersion } from '../../src/contract/versions.ts'
import type { Database, Statement } from '../../src/database/database.ts'
import type { ApiHandlers } from '../../src/domains/api-handler.ts'
import { authenticateKeys } from '../../src/domains/api-keys/authenticate-key.ts'
import type { FoundKey } from '../../src/domains/api-keys/principal-store.ts'
import type { FindPrincipal } from '../../src/domains/api-keys/principals.ts'
import { createApiServer, type ApiServerOptions } from '../../src/http/api-server.ts'
import { systemTime } from '../../src/runtime/time.ts'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import { newOrganizationId } from '../../src/domains/organizations/organization-id.ts'
import { newId } from '../../src/runtime/ids.ts'
import { silentLogger } from '../../src/runtime/logger.ts'

export type FixtureHandlers = ApiHandlers<unknown>

export interface ApiFixture {
  readonly url: string
  readonly port: number
  /** Creates a key of the fixture's organization, or of another one. */
  makeKey(principal?: Partial<FoundKey>): string
  readonly organizationId: OrganizationId
  stop(): Promise<void>
}

type FixtureOptions = Partial<Omit<ApiServerOptions<typeof operations>, 'handlers' | 'parts'>> & {
  readonly handlers?: Partial<FixtureHandlers>
  readonly findPrincipal?: FindPrincipal
}

/** The real server over the real table, by default with handlers that return the table's own examples. */
export const startApiFixture = async (options: FixtureOptions = {}): Promise<ApiFixture> => {
  const principals = new Map<string, FoundKey>()
  const organizationId = newOrganizationId()
  const { findPrincipal = async (hash) => principals.get(hash.toString('hex')) } = options
  const server = createApiServer({
    operations,
    closedAreas: [administratorArea],
    database: databaseWithoutRows,
    authenticate: authenticateKeys(findPrincipal, options.clock ?? systemTime),
    cursorSecrets: [Buffer.alloc(32, 7)],
    logger: silentLogger,
    host: '127.0.0.1',
    port: 0,
    isDraining: () => false,
    readiness: async () => ({ isReady: true, checks: { database: 'ok' } }),
    checkResponses: true,
    anonymousLimit: 1_000_000,
    parts: undefined,
    ...options,
    handlers: { ...exampleHandlers(), ...options.handlers },
  })
  await server.start()
  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    organizationId,
    makeKey(principal = {}) {
      const { secret, hash } = makeApiKey()
      principals.set(hash.toString('hex'), {
        kind: 'key',
        organizationId,
        apiKeyId: newId(),
        scopes,
        publicApiEnabled: true,
        defaultVersion: latestVersion,
        rateLimits: defaultRateLimits,
        keyRateLimits: {},
        ...principal,
      })
      return secret
    },
    stop: () => server.stop(),
  }
}

/** Returns each operation's documented example, as a handler would. */
const exampleHandlers = (): FixtureHandlers =>
  Object.fromEntries(
    Object.entries(operations).map(([name, operation]) => [
      name,
      async () => exampleResult(operation),
    ]),
    // The contract test checks every example against its response schema.
  ) as unknown as FixtureHandlers

const exampleResult = ({
  example,
  paged,
  statuses,
}: (typeof operations)[keyof typeof operations]) => {
  if (paged) {
    const { next_cursor: _cursor, ...body } = example as Record<string, unknown>
    return { ...body, next: null }
  }
  return statuses.length > 1 ? { status: statuses.at(-1), body: example } : example
}

/** Transactions without a database behind them, for handlers that touch no rows. Every Idempotency-Key is new. */
const databaseWithoutRows: Database = {
  rows: async () => [],
  row: async <Row extends object>({ name }: Statement) =>
    name === 'idempotency-claims.take-claim'
      ? ({ is_ours: true, is_expired: null } as unknown as Row)
      : undefined,
  run: async () => 1,
  transaction: (work) =>
    work({
      ...databaseWithoutRows,
      withCommit: () => {},
      afterCommit: () => {},
      hintAfterCommit: () => {},
    }),
  listen: async () => ({ stop: async () => {} }),
  hint: () => {},
  stop: async () => {},
}
