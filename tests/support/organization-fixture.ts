import { defaultRateLimits } from '../../src/contract/buckets.ts'
import { contactInput, type ContactInput } from '../../src/contract/contacts.ts'
import type { Principal, Visit } from '../../src/contract/principal.ts'
import { latestVersion } from '../../src/contract/versions.ts'
import type { Database, Queryable, Transaction } from '../../src/database/database.ts'
import { createAgent } from '../../src/domains/agents/create-agent.ts'
import { placeCall } from '../../src/domains/calls/place-call.ts'
import { placeManualCall } from '../../src/domains/calls/place-manual-call.ts'
import { createOrganization } from '../../src/domains/organizations/create-organization.ts'
import { unlimitedStorage } from '../../src/domains/organizations/storage-quotas.ts'
import { systemTime } from '../../src/runtime/time.ts'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import { newOrganizationId } from '../../src/domains/organizations/organization-id.ts'
import { newId } from '../../src/runtime/ids.ts'
import { endCallAlone } from './call-ends.ts'

/** An agent file without optional members. */
export const minimalAgentFile = {
  name: 'Reminder',
  greeting: 'Hello {{contact.name|there}}.',
  prompt: 'Remind them of the appointment.',
  voicemail: 'hang_up',
} as const

/** An administrator: no handler checks the requester. */
export const somePrincipal: Principal = {
  kind: 'session',
  organizationId: newOrganizationId(),
  userId: newId(),
  sessionId: newId(),
  name: 'Some one',
  email: 'some@example.test',
  role: 'owner',
  hasTwoFactor: false,
  administersInstallation: true,
  defaultVersion: latestVersion,
  rateLimits: defaultRateLimits,
}

/** Where the request came from. */
export const someVisit: Visit = { address: () => '192.0.2.1', header: () => undefined }

/** The context that a handler gets from the HTTP kernel. */
export const contextOf = <Db extends Queryable>(db: Db, organizationId: OrganizationId) => ({
  db,
  parts: { quotas: unlimitedStorage, clock: systemTime, endCall: endCallAlone },
  organizationId,
  principal: somePrincipal,
  visit: someVisit,
  requestId: 'req_test',
  version: latestVersion,
})

/** A contact body in the form the kernel passes it. */
export const contactBody = (members: Partial<ContactInput> = {}): ContactInput =>
  contactInput.parse({
    external_id: `crm-${newId()}`,
    name: 'Ada',
    phone_number: '+12025550100',
    ...members,
  })

export interface OrganizationFixture {
  readonly organizationId: OrganizationId
  readonly agentId: string
  /** A queued API call to this number; its id. */
  placeCall(phoneNumber?: string): Promise<string>
  /** A queued manual call; its id. */
  dial(phoneNumber?: string): Promise<string>
}

/** A new organization with an agent. */
export const createOrganizationFixture = async (db: Database): Promise<OrganizationFixture> => {
  const { id: organizationId } = await createOrganization(db, { name: 'Fixture' })
  const { id: agentId } = await createAgent(db, organizationId, minimalAgentFile)
  return {
    organizationId,
    agentId,
    async placeCall(phoneNumber = '+12025550100') {
      const recipient = contactBody({ external_id: phoneNumber, phone_number: phoneNumber })
      const input = { params: {}, query: {}, body: { agent_id: agentId, recipient } }
      const work = (tx: Transaction) => placeCall(input, contextOf(tx, organizationId))
      return (await db.transaction(work)).id
    },
    async dial(phoneNumber = '+12025550199') {
      const work = (tx: Transaction) =>
        placeManualCall(tx, organizationId, { agentId, phoneNumber })
      return (await db.transaction(work)).id
    },
  }
}
