import assert from 'node:assert/strict'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import type { KeyPrincipal } from '../../src/contract/principal.ts'
import { buckets } from '../../src/contract/buckets.ts'
import { createApiKey } from '../../src/domains/api-keys/create-api-key.ts'
import { publishAutomation } from '../../src/domains/automations/publish-automation.ts'
import { createBatch } from '../../src/domains/batches/create-batch.ts'
import { placeCall } from '../../src/domains/calls/place-call.ts'
import { recordSummary } from '../../src/domains/calls/record-summary.ts'
import { addDoNotCall } from '../../src/domains/organizations/do-not-call.ts'
import { setOrganization } from '../../src/domains/organizations/set-organization.ts'
import { describeRequest } from '../../src/domains/requests/describe-request.ts'
import { insertRequests } from '../../src/domains/requests/request-store.ts'
import { recordingKeysOf } from '../../src/domains/recordings/recording-keys.ts'
import {
  completeRecording,
  insertRecording,
  recordingIdOf,
} from '../../src/domains/recordings/recording-store.ts'
import { openResults } from '../../src/domains/results/open-results.ts'
import { publishSummary, publishTranscript } from '../../src/domains/results/publish-result.ts'
import { appendTurn } from '../../src/domains/results/transcript-store.ts'
import { listSessions } from '../../src/identity/session-store.ts'
import { sql } from '../../src/database/database.ts'
import { newId } from '../../src/runtime/ids.ts'
import type { startComposedConsole } from './composed-console.ts'
import { contactBody, contextOf, createOrganizationFixture } from './organization-fixture.ts'

type App = Awaited<ReturnType<typeof startComposedConsole>>

/** Words that stand nowhere but in the data of a tenant's people: a number, names, what was said. */
export const privateWords = {
  phone: '+12025550177',
  name: 'Grace Brewster',
  email: 'grace@navy.test',
  externalId: 'crm-4711',
  company: 'Eckert and Mauchly',
  city: 'Arlington',
  blocked: '+12025550178',
  turn: 'My secret word is umbrella',
  summary: 'They spoke of an umbrella',
  reason: 'The umbrella was asked for',
} as const

const sanitizer = { version: 1, sanitize: (text: string) => text }

/** Many requests in a minute are what these tests send. */
const plenty = Object.fromEntries(buckets.map((bucket) => [bucket, 100_000]))

/** An organization with one of each resource. `ids` has them by the names that paths and bodies give them. */
export const createConsoleTenant = async (app: App) => {
  const { db } = app
  const { organizationId, agentId } = await createOrganizationFixture(db)
  await db.transaction((tx) => setOrganization(tx, organizationId, { rateLimits: plenty }))
  const owner = await app.signInAs(organizationId, 'owner', `${newId()}@tenant.test`)
  const send = async (method: string, path: string, body: object) => {
    const { status, body: answer } = await owner.browser.send(method, path, body)
    assert.ok(status < 300, `${path}: ${JSON.stringify(answer)}`)
    return answer
  }
  const contact = await send(
    'POST',
    '/console/contacts',
    contactBody({
      external_id: privateWords.externalId,
      name: privateWords.name,
      phone_number: privateWords.phone,
      email: privateWords.email,
      company: privateWords.company,
      city: privateWords.city,
    }),
  )
  const contactId = String(contact['id'])
  const callId = await talk(app, organizationId, { agent_id: agentId, contact_id: contactId })
  const automation = await publishAutomation(db, organizationId, automationFile(agentId))
  const batch = await db.transaction((tx) =>
    createBatch(
      {
        params: {},
        query: {},
        body: { name: 'Reminders', agent_id: agentId, contact_ids: [contactId] },
      },
      contextOf(tx, organizationId),
    ),
  )
  const key = await createApiKey(db, { organizationId, name: 'A key', scopes: 'all' })
  await addDoNotCall(db, organizationId, privateWords.blocked)
  const invited = await send('POST', '/console/invitations', {
    email: 'guest@tenant.test',
    role: 'viewer',
  })
  const run = await send('POST', '/console/runs', {
    automation_id: automation.id,
    contact_id: contactId,
  })
  const file = await send('POST', '/console/imports', { file_name: `${privateWords.name}.csv` })
  const [session] = await listSessions(db, owner.accountId)
  const apiRequestId = await keepRequest(app, organizationId, key.id, callId)
  const ids: Readonly<Record<string, string>> = {
    organization_id: organizationId,
    agent_id: agentId,
    version: '1',
    call_id: callId,
    contact_id: contactId,
    automation_id: automation.id,
    run_id: String(run['id']),
    batch_id: batch.id,
    import_id: String(file['id']),
    recording_id: recordingIdOf({ organizationId, callId }),
    api_key_id: key.id,
    api_request_id: apiRequestId,
    target_id: callId,
    account_id: owner.accountId,
    session_id: session?.id ?? assert.fail('The owner has no session.'),
    invitation_id: String(invited['id']),
  }
  return { organizationId, ids }
}

/** A kept request that made the call, with the words of its person. */
const keepRequest = async (
  { db }: App,
  organizationId: OrganizationId,
  apiKeyId: string,
  callId: string,
): Promise<string> => {
  const noted = { id: newId(), at: new Date() }
  const row = describeRequest(
    {
      principal: { kind: 'key', organizationId, apiKeyId } as KeyPrincipal,
      requestId: `req_${noted.id}`,
      method: 'POST',
      target: `/calls?name=${privateWords.name}`,
      operation: 'placeCall',
      template: '/calls',
      params: {},
      status: 202,
      durationMs: 1,
      isAllowed: true,
      isClaimed: true,
      isReplay: false,
      body: { recipient: { ...privateWords, phone_number: privateWords.phone } },
      bodyBytes: 100,
      answer: JSON.stringify({ id: callId, summary: privateWords.summary }),
      location: `/calls/${callId}`,
    },
    noted,
  )
  await insertRequests(db, [row])
  return noted.id
}

/** A call to the contact that was held, with its words, summary and recording. */
const talk = async (
  { db }: App,
  organizationId: OrganizationId,
  body: { readonly agent_id: string; readonly contact_id: string },
): Promise<string> => {
  const placed = await db.transaction((tx) =>
    placeCall({ params: {}, query: {}, body }, contextOf(tx, organizationId)),
  )
  const call = { organizationId, callId: placed.id }
  await db.run(
    sql(
      'console-tenant.end',
      `update calls
          set status = 'completed', dialing_at = now(), connected_at = now(), ended_at = now()
        where organization_id = $1 and id = $2`,
    ),
    [organizationId, placed.id],
  )
  await appendTurn(db, call, {
    sequence: 1,
    speaker: 'contact',
    text: privateWords.turn,
    audioOffsetMs: 0,
  })
  await db.transaction(async (tx) => {
    await openResults(tx, call, { status: 'processing' })
    const recordedAt = new Date()
    await insertRecording(tx, { ...call, contactId: body.contact_id, origin: 'api', recordedAt })
  })
  await db.transaction((tx) => publishTranscript(tx, call, sanitizer))
  await db.transaction((tx) => publishSummary(tx, call, privateWords.summary, sanitizer))
  await recordSummary(db, organizationId, placed.id, {
    summary: privateWords.summary,
    outcome: 'achieved',
    outcomeReason: privateWords.reason,
  })
  const keys = recordingKeysOf(call)
  await completeRecording(db, call, { ...keys, durationSeconds: 1, sizeBytes: 3, frames: 50 })
  return placed.id
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
