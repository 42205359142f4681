import type { ContactInput } from '../../../src/contract/contacts.ts'
import type { Database } from '../../../src/database/database.ts'
import { openDatabase } from '../../../src/database/open-database.ts'
import { createAgent } from '../../../src/domains/agents/create-agent.ts'
import { createApiKey } from '../../../src/domains/api-keys/create-api-key.ts'
import { publishAutomation } from '../../../src/domains/automations/publish-automation.ts'
import type { AutomationDefinition } from '../../../src/domains/automations/definition.ts'
import { upsertRecipient } from '../../../src/domains/contacts/upsert-recipient.ts'
import { createOrganization } from '../../../src/domains/organizations/create-organization.ts'
import { setOrganization } from '../../../src/domains/organizations/set-organization.ts'
import { silentLogger } from '../../../src/runtime/logger.ts'
import { contactBody, minimalAgentFile } from '../../support/organization-fixture.ts'
import { numberOf } from '../../support/many-numbers.ts'
import type { Fleet } from './fleet.ts'
import type { OrganizationId } from '../../../src/contract/organization-id.ts'

/** One tenant of the trial, and its possible callees. */
export interface Tenant {
  readonly id: string
  readonly concurrency: number
  readonly key: string
  readonly agentId: string
  readonly contacts: readonly TenantContact[]
  readonly automations: readonly TenantAutomation[]
}

export interface TenantContact {
  readonly id: string
  /** In the format of POST /contacts. */
  readonly body: ContactInput
}

export interface TenantAutomation {
  readonly id: string
  readonly definition: AutomationDefinition
}

/** Together more than the trunk's channels, so that both limits are reached. */
const concurrencies = [30, 28] as const

/**
 * Callees that finish within seconds, by persona of the sandbox carrier. Few enough that calls to one number often
 * meet and wait for each other (D3); enough that the trial still ends.
 */
const callees = [
  { persona: '+12025550101', numbers: 12 }, // busy
  { persona: '+12025550102', numbers: 15 }, // rings for the trial's 3 s
  { persona: '+12025550104', numbers: 6 }, // not found
  { persona: '+12025550107', numbers: 9 }, // answers and hangs up
  { persona: '+12025550105', numbers: 8 }, // congested once, then a conversation
  { persona: '+12025550109', numbers: 6 }, // declines
  { persona: '+12025550100', numbers: 8 }, // a conversation
] as const

const allHours = {
  time_zone: 'UTC',
  windows: [
    {
      weekdays: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'],
      start_time: '00:00',
      end_time: '24:00',
    },
  ],
  allowed_countries: 'all',
} as const

const enough = 1_000_000
const rates = {
  read: enough,
  write: enough,
  execution: enough,
  transcript: enough,
  recording: enough,
}

/** Tenants, agents, keys and Automations: an administrator's preparations for the trial. */
export const setStage = async ({ connection }: Pick<Fleet, 'connection'>): Promise<Tenant[]> => {
  const db = openDatabase({ connection, logger: silentLogger, maxConnections: 2 })
  try {
    const tenants: Tenant[] = []
    for (const concurrency of concurrencies) tenants.push(await makeTenant(db, concurrency))
    return tenants
  } finally {
    await db.stop()
  }
}

const makeTenant = async (db: Database, concurrency: number): Promise<Tenant> => {
  const { id } = await createOrganization(db, {
    name: 'Trial',
    concurrency,
    policy: allHours,
    mode: 'live',
  })
  await db.transaction((tx) => setOrganization(tx, id, { rateLimits: rates }))
  const agent = await createAgent(db, id, { ...minimalAgentFile, max_duration_seconds: 10 })
  const key = await createApiKey(db, { organizationId: id, name: 'Trial', scopes: 'all' })
  const automations: TenantAutomation[] = []
  for (const definition of definitionsOf(agent.id)) {
    const made = await publishAutomation(db, id, { name: 'Trial', definition })
    automations.push({ id: made.id, definition })
  }
  return {
    id,
    concurrency,
    key: key.secret,
    agentId: agent.id,
    contacts: await makeContacts(db, id),
    automations,
  }
}

const makeContacts = async (
  db: Database,
  organizationId: OrganizationId,
): Promise<TenantContact[]> => {
  const contacts: TenantContact[] = []
  for (const { persona, numbers } of callees) {
    for (let index = 0; index < numbers; index += 1) {
      const number = numberOf(persona, index)
      const body = contactBody({ external_id: number, phone_number: number })
      const { contact } = await db.transaction((tx) => upsertRecipient(tx, organizationId, body))
      contacts.push({ id: contact.id, body })
    }
  }
  return contacts
}

/** Retries, waits of seconds, branches on the answer status, both kinds of end. */
const definitionsOf = (agentId: string): AutomationDefinition[] => [
  {
    entry: 'first_call',
    steps: {
      first_call: {
        type: 'call',
        agent_id: agentId,
        next: 'route',
        retry: { max_attempts: 3, delays: ['PT1S', 'PT2S'], on: ['busy', 'no_answer'] },
      },
      route: {
        type: 'branch',
        cases: [
          { when: { answer_status: ['answered', 'voicemail'] }, next: 'done' },
          { when: { answer_status: ['busy'] }, next: 'cool_off' },
        ],
        otherwise: 'given_up',
      },
      cool_off: { type: 'wait', for: 'PT2S', next: 'last_call' },
      last_call: { type: 'call', agent_id: agentId, next: 'done' },
      done: { type: 'end', result: 'completed' },
      given_up: { type: 'end', result: 'failed', failure_code: 'retries_exhausted' },
    },
  },
  {
    entry: 'pause',
    steps: {
      pause: { type: 'wait', for: 'PT1S', next: 'call' },
      call: { type: 'call', agent_id: agentId, next: 'another_pause' },
      another_pause: { type: 'wait', for: 'PT1S', next: 'again' },
      again: { type: 'call', agent_id: agentId, next: 'route' },
      route: {
        type: 'branch',
        cases: [{ when: { answer_status: ['unknown'] }, next: 'lost' }],
        otherwise: 'done',
      },
      done: { type: 'end', result: 'completed' },
      lost: { type: 'end', result: 'failed' },
    },
  },
  {
    entry: 'call',
    steps: {
      call: {
        type: 'call',
        agent_id: agentId,
        next: 'done',
        retry: { max_attempts: 5, delays: ['PT0S'], on: ['busy', 'unknown'] },
      },
      done: { type: 'end', result: 'completed' },
    },
  },
]
