import { errorCodes, type ErrorCode } from '../../src/contract/errors.ts'
import { createApiKey } from '../../src/domains/api-keys/create-api-key.ts'
import { addDoNotCall } from '../../src/domains/organizations/do-not-call.ts'
import { setOrganization } from '../../src/domains/organizations/set-organization.ts'
import { startComposedApi } from './composed-api.ts'
import { createEndCall } from '../../src/domains/calls/lifecycle/end-call.ts'

export type ErrorExamples = Readonly<Record<ErrorCode, unknown>>

const requestId = 'req_0123456789abcdef'
/** Ids are new in every installation; the reference shows a constant one. */
const exampleId = '019c6b2e-7a40-7c31-9d0f-2f6a51b7c0a1'
const uuids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

interface Ask {
  readonly method?: string
  readonly body?: unknown
  readonly secret?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
}

/** The API's real responses, one for each error code: the examples of the reference. */
export const collectErrorExamples = async (): Promise<ErrorExamples> => {
  let isBroken = false
  const api = await startComposedApi({
    endCall: createEndCall([
      async () => {
        if (isBroken) throw new Error('the fault that this example needs')
      },
    ]),
  })
  try {
    const tenant = await api.createTenant('Examples')
    const found = new Map<string, unknown>()
    const { agent_id, contact_id, automation_id, batch_id } = tenant.ids

    const ask = async (path: string, { method, body, headers = {}, ...rest }: Ask = {}) => {
      const secret = 'secret' in rest ? rest.secret : tenant.secret
      const response = await fetch(`${api.url}${path}`, {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: {
          'x-request-id': requestId,
          ...(secret !== undefined && { authorization: `Bearer ${secret}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = (await response.text()).replaceAll(uuids, exampleId)
      if (response.ok) return
      const answer = JSON.parse(text) as { error: { code: string } }
      found.set(answer.error.code, answer)
    }
    const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })
    const call = { agent_id, contact_id }
    const keyOf = (name: string, options: object) =>
      createApiKey(api.db, {
        organizationId: tenant.organizationId,
        name,
        scopes: 'all',
        ...options,
      })

    await ask('/contacts', {
      body: { external_id: 'crm-1842', name: 'Ada Lovelace', phone_number: '2025550100' },
    })
    await ask('/contacts', { body: '{"external_id": "crm-1842",}' })
    await ask('/agents', { headers: { 'service-version': '2025-01-01' } })
    await ask('/calls', { body: call })
    await ask('/agents', { secret: undefined })
    await ask('/agents', { secret: `${tenant.secret.slice(0, -6)}aaaaaa` })
    await ask(`/calls/${exampleId}`)
    await ask('/calls', { method: 'DELETE' })
    await ask(`/batches/${batch_id}/pause`, { body: {} })
    await ask('/automation-runs', { body: { automation_id, contact_id }, ...keyed('run-2') })
    await ask('/calls', { body: call, ...keyed('call-1842') })
    await ask('/calls', { body: { agent_id, contact_id: 'crm-1906' }, ...keyed('call-1842') })
    await ask('/contacts', { body: JSON.stringify({ name: 'a'.repeat(1024 * 1024) }) })
    const premium = { external_id: 'crm-1907', name: 'Hotline', phone_number: '+19005550100' }
    await ask('/calls', { body: { agent_id, recipient: premium }, ...keyed('premium') })
    const other = { external_id: 'crm-1906', name: 'Grace Hopper', phone_number: '+12025550101' }
    await ask('/contacts', { body: other })
    await ask('/contacts', { body: { ...other, external_id: 'crm-1842' } })

    // The first of two equal requests waits for our lock.
    const held: Promise<void>[] = []
    await api.db.transaction(async (tx) => {
      await tx.run(lockOrganization, [tenant.organizationId])
      held.push(ask(`/batches/${batch_id}/start`, { body: {}, ...keyed('start-1') }))
      while ((await api.db.row(waiting, [])) === undefined) await new Promise(setImmediate)
      await ask(`/batches/${batch_id}/start`, { body: {}, ...keyed('start-1') })
    })
    await Promise.all(held)

    await addDoNotCall(api.db, tenant.organizationId, '+12025550100')
    await ask('/calls', { body: call, ...keyed('barred') })
    isBroken = true
    await ask(`/calls/${tenant.ids['call_id']}/cancel`, { body: {} })

    const reader = await keyOf('reader', { scopes: ['calls:read'] })
    await ask('/contacts', { body: other, secret: reader.secret })
    const expired = await keyOf('expired', {})
    await api.db.run(expire, [expired.id])
    await ask('/agents', { secret: expired.secret })
    const slow = await keyOf('slow', { rateLimits: { read: 1 } })
    await ask('/agents', { secret: slow.secret })
    await ask('/agents', { secret: slow.secret })
    const off = await api.createTenant('Off')
    await api.db.transaction((tx) =>
      setOrganization(tx, off.organizationId, { publicApiEnabled: false }),
    )
    const fresh = await createApiKey(api.db, {
      organizationId: off.organizationId,
      name: 'off',
      scopes: 'all',
    })
    await ask('/agents', { secret: fresh.secret })

    return Object.fromEntries(errorCodes.map((code) => [code, found.get(code)])) as ErrorExamples
  } finally {
    await api.stop()
  }
}

const lockOrganization = {
  name: 'test.lock',
  text: 'select from dispatch_organizations where organization_id = $1 for update',
}
const waiting = {
  name: 'test.waiting',
  text: `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
}
const expire = {
  name: 'test.expire',
  text: `update api_keys set expires_at = now() - interval '1 day' where id = $1`,
}
