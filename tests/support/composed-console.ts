import { createApiRole } from '../../src/compose/roles/api.ts'
import { testBox } from './trunk-fixtures.ts'
import { createDashboardRole } from '../../src/compose/roles/dashboard.ts'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import type { Role } from '../../src/contract/roles.ts'
import { createOrganization } from '../../src/domains/organizations/create-organization.ts'
import { createIdentity } from '../../src/identity/better-auth-identity.ts'
import { addMember } from '../../src/identity/member-store.ts'
import { createLiveRegistry } from '../../src/live-call/call/live-registry.ts'
import { healthOf } from '../../src/operator/health/installation-health.ts'
import { parseNetworks } from '../../src/runtime/networks.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { systemTime } from '../../src/runtime/time.ts'
import { createRecordedTalks } from './recorded-talks.ts'
import { endCallAlone } from './call-ends.ts'
import { createTestDatabase } from './test-database.ts'

export const consoleOrigin = 'http://dashboard.test'
export const consolePassword = 'correct horse battery'

/** A browser of the dashboard: it keeps its session's cookie and sends the Origin. */
export interface Browser {
  cookie: string | undefined
  send(method: string, path: string, body?: object, headers?: object): Promise<ConsoleAnswer>
}

export interface ConsoleAnswer {
  readonly status: number
  readonly body: Record<string, unknown>
  readonly code: string | undefined
  readonly headers: Headers
}

/** The dashboard's role and the API's over one database; a proxy of this machine is trusted. */
export const startComposedConsole = async (origin = consoleOrigin) => {
  const database = await createTestDatabase()
  const { db } = database
  const identity = createIdentity({ database: db, secret: Buffer.alloc(32, 3) })
  const role = {
    database: db,
    host: '127.0.0.1',
    port: 0,
    trustedProxies: parseNetworks('127.0.0.1'),
    isDraining: () => false,
    readiness: async () => ({ isReady: true, checks: {} }),
    clock: systemTime,
    logger: silentLogger,
  }
  const downloadUrls = {
    signDownloadUrl: (id: string) => `http://media.test/recordings/${id}`,
    clock: systemTime,
  }
  const live = createLiveRegistry()
  const talks = createRecordedTalks()
  const dashboard = await createDashboardRole({
    application: { find: () => undefined },
    ...role,
    identity,
    apiUrl: () => 'http://api.test',
    trunks: {
      box: testBox,
      test: (_db, trunk) => Promise.resolve({ trunk, ok: true, gateways: [] }),
    },
    health: async () => healthOf(db, [], systemTime.now()),
    origins: () => [origin],
    endCall: endCallAlone,
    downloadUrls,
    storage: { open: async () => undefined },
    mediaOrigin: () => 'http://media.test',
    live,
    talks: talks.source,
  })
  const api = await createApiRole({
    ...role,
    publicUrl: () => 'http://api.test',
    dashboardOrigins: () => [origin],
    endCall: endCallAlone,
    downloadUrls,
  })
  await dashboard.start()
  await api.start()
  const url = `http://127.0.0.1:${dashboard.port}`

  const browse = (address = '198.51.100.1', base = url): Browser => ({
    cookie: undefined,
    async send(method, path, body, headers = {}) {
      const response = await fetch(base + path, {
        method,
        headers: {
          origin,
          'x-forwarded-for': address,
          ...(this.cookie !== undefined && { cookie: this.cookie }),
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      const [kept] = response.headers.getSetCookie()
      if (kept !== undefined) this.cookie = kept.split(';', 1)[0]
      const answer = (await response.json()) as Record<string, unknown>
      const error = answer['error'] as { code?: string } | undefined
      return {
        status: response.status,
        body: answer,
        code: error?.code,
        headers: response.headers,
      }
    },
  })

  /** A member of the organization, signed in. */
  const signInAs = async (
    organizationId: OrganizationId,
    memberRole: Role,
    email: string,
  ): Promise<{ readonly browser: Browser; readonly accountId: string }> => {
    const accountId = await db.transaction(async (tx) => {
      const { id } = await identity.createAccount(tx, {
        name: email,
        email,
        password: consolePassword,
      })
      await addMember(tx, organizationId, id, memberRole)
      return id
    })
    return { browser: await signIn(email), accountId }
  }
  const signIn = async (email: string, base = url): Promise<Browser> => {
    const browser = browse('198.51.100.1', base)
    const answer = await browser.send('POST', '/console/session', {
      email,
      password: consolePassword,
    })
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
    return browser
  }
  return {
    url,
    apiUrl: `http://127.0.0.1:${api.port}`,
    db,
    identity,
    live,
    talks,
    browse,
    signIn,
    signInAs,
    createOrganization: (name: string) => createOrganization(db, { name }),
    async stop(): Promise<void> {
      await Promise.all([dashboard.stop(), api.stop()])
      await database.drop()
    },
  }
}
