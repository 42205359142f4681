import { createApiRole, type ApiRoleOptions } from '../../src/compose/roles/api.ts'
import { createAgent } from '../../src/domains/agents/create-agent.ts'
import { createApiKey } from '../../src/domains/api-keys/create-api-key.ts'
import { publishAutomation } from '../../src/domains/automations/publish-automation.ts'
import { createOrganization } from '../../src/domains/organizations/create-organization.ts'
import { setOrganization } from '../../src/domains/organizations/set-organization.ts'
import {
  completeRecording,
  insertRecording,
  recordingIdOf,
} from '../../src/domains/recordings/recording-store.ts'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import { systemTime } from '../../src/runtime/time.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { createApiClient, type ApiClient } from './api-client.ts'
import { minimalAgentFile } from './organization-fixture.ts'
import { createTestDatabase } from './test-database.ts'
import { endCallAlone } from './call-ends.ts'

export interface Tenant {
  readonly secret: string
  readonly client: ApiClient
  readonly organizationId: OrganizationId
  /** One of each resource, by the name that paths give it (`call_id`). */
  readonly ids: Readonly<Record<string, string>>
}

const many = 1_000_000
const unlimited = { read: many, write: many, execution: many, transcript: many, recording: many }

/** The API role over the real handlers and its own database; no dispatcher runs. */
export const startComposedApi = async (options: Partial<Pick<ApiRoleOptions, 'endCall'>> = {}) => {
  const database = await createTestDatabase()
  const { db } = database
  const role = await createApiRole({
    database: db,
    host: '127.0.0.1',
    port: 0,
    publicUrl: () => 'http://api.test',
    endCall: options.endCall ?? endCallAlone,
    downloadUrls: {
      signDownloadUrl: (id) => `http://media.test/recordings/${id}`,
      clock: systemTime,
    },
    isDraining: () => false,
    readiness: async () => ({ isReady: true, checks: {} }),
    clock: systemTime,
    logger: silentLogger,
  })
  await role.start()
  const url = `http://127.0.0.1:${role.port}`

  /** An organization with a key for everything without a rate limit, and one of each resource. */
  const createTenant = async (
    name: string,
    settings: Omit<Parameters<typeof setOrganization>[2], 'rateLimits'> = {},
  ): Promise<Tenant> => {
    const { id } = await createOrganization(db, { name })
    await db.transaction((tx) => setOrganization(tx, id, { rateLimits: unlimited, ...settings }))
    const { secret } = await createApiKey(db, { organizationId: id, name: 'all', scopes: 'all' })
    const agent = await createAgent(db, id, minimalAgentFile)
    const automation = await publishAutomation(db, id, automationFile(agent.id))
    const client = createApiClient(url, secret)
    const idOf = async (path: string, body: object): Promise<string> => {
      const made = await client.post(path, body)
      if (made.status >= 300) throw new Error(`${path}: ${JSON.stringify(made.body)}`)
      return String(made.body['id'])
    }
    const person = { external_id: 'one', name: 'One', phone_number: '+12025550100' }
    const contactId = await idOf('/contacts', person)
    const callId = await idOf('/calls', { agent_id: agent.id, contact_id: contactId })
    const batch = { name: 'Batch', agent_id: agent.id, contact_ids: [contactId] }
    const run = { automation_id: automation.id, contact_id: contactId }
    const ids = {
      agent_id: agent.id,
      contact_id: contactId,
      call_id: callId,
      recording_id: await recordCall({ organizationId: id, callId, contactId }),
      batch_id: await idOf('/batches', batch),
      automation_id: automation.id,
      run_id: await idOf('/automation-runs', run),
    }
    return { secret, client, organizationId: id, ids }
  }
  /** As if the call had been held and its MP3 stored; the id is the recording's. */
  const recordCall = async (call: {
    readonly organizationId: OrganizationId
    readonly callId: string
    readonly contactId: string
  }): Promise<string> => {
    await db.transaction((tx) =>
      insertRecording(tx, { ...call, origin: 'api', recordedAt: new Date() }),
    )
    const audio = {
      storageKey: 'x.mp3',
      durationSeconds: 1,
      sizeBytes: 3,
      peaksKey: 'x',
      frames: 50,
    }
    await completeRecording(db, call, audio)
    return recordingIdOf(call)
  }
  return {
    url,
    db,
    createTenant,
    async stop(): Promise<void> {
      await role.stop()
      await database.drop()
    },
  }
}

const automationFile = (agentId: string) => ({
  name: 'Follow-up',
  definition: {
    entry: 'call',
    steps: {
      call: { type: 'call', agent_id: agentId, next: 'done' },
      done: { type: 'end', result: 'completed' },
    },
  },
})
