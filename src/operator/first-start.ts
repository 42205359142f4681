import type { Database } from '../database/database.ts'
import { createAgent } from '../domains/agents/create-agent.ts'
import { createApiKey } from '../domains/api-keys/create-api-key.ts'
import { findOrMakeManualContact } from '../domains/contacts/manual-contact.ts'
import { createFirstOrganization } from '../domains/organizations/create-first-organization.ts'
import type { OrganizationId } from '../contract/organization-id.ts'

/** What the first start created. It is printed once. */
export interface FirstStart {
  readonly organizationId: OrganizationId
  readonly agentId: string
  readonly contactId: string
  /** The secret of the key. The database has only its hash. */
  readonly key: string
}

/**
 * Creates a sandbox organization with an agent, a contact and a key in an empty installation, so that the first call needs
 * nothing else. The contact has no external identity: an API client that names its number adopts it. Returns undefined if
 * the installation has an organization.
 */
export const prepareFirstStart = async (database: Database): Promise<FirstStart | undefined> =>
  database.transaction(async (tx) => {
    const organization = await createFirstOrganization(tx)
    if (!organization) return undefined
    const agent = await createAgent(tx, organization.id, sandboxAgent)
    const contact = await findOrMakeManualContact(
      tx,
      organization.id,
      '+12025550100',
      'Ada Lovelace',
    )
    const { secret } = await createApiKey(tx, {
      organizationId: organization.id,
      name: 'First key',
      scopes: 'all',
    })
    return {
      organizationId: organization.id,
      agentId: agent.id,
      contactId: contact.id,
      key: secret,
    }
  })

/** The scripted model speaks for this agent; it knows what the sandbox's callees say. */
const sandboxAgent = {
  name: 'Sandbox agent',
  description: 'Calls the numbers of the sandbox carrier.',
  language: 'en-US',
  greeting:
    'Hello {{contact.name|there}}, this is the Outdial assistant. Is this a good time to talk?',
  prompt:
    'You call {{contact.name|the contact}} to confirm an appointment for tomorrow at ten. Be brief and polite. Say goodbye and end the call when it is settled.',
  voicemail: 'hang_up',
  max_duration_seconds: 300,
}
