import type { Attack } from '../stage/attack.ts'
import { copyRows } from '../stage/copy-rows.ts'
import { openLiveCall } from '../stage/live-calls.ts'
import { openTenant, type Tenant } from '../stage/tenant.ts'

const calls = 1_000_000
/** PostgreSQL switches to a generic plan with the sixth execution on a connection. */
const requests = 12
const atOnce = 20
const listLimitMs = 300

/** An organization with a million calls lists them by every filter, repeatedly. */
export const slowLists: Attack = {
  name: 'slow-lists',
  goal: 'no list of a million calls takes 300 ms, and lists keep no call from ringing',
  isLong: true,
  async run(stage, limits) {
    const { product, database, trunk, engine } = stage
    const tenant = await openTenant(product, 'Listing')
    const { id: agentId = '' } = await tenant.publishAgent()
    const { id: otherAgent = '' } = await tenant.publishAgent()
    const parts = { trunk, engine, tenant, agentId }
    const call = await openLiveCall(parts, stage.newNumber())
    await call.leg.request('BYE')
    await tenant.request('GET', `/calls/${call.id}`)
    await copyRows(database, {
      table: 'calls',
      id: call.id,
      count: calls,
      differences: {
        id: 'gen_random_uuid()',
        // Half are the agent's, all completed; of the other's every status is common.
        agent_id: `case when n % 2 = 0 then source.agent_id else '${otherAgent}'::uuid end`,
        status: `case when n % 2 = 0 then 'completed' when n % 4 = 1 then 'failed' else 'cancelled' end`,
        lease_token: 'null',
        node_id: 'null',
        ended_at: 'now()',
        created_at: `now() - n * interval '1 second'`,
      },
    })
    await database.query('analyze calls')
    const problems: string[] = []
    let slowestMs = 0
    for (const path of pathsOf(agentId, call.id)) {
      for (let turn = 0; turn < requests; turn += 1) {
        const tookMs = await timeList(tenant, path)
        slowestMs = Math.max(slowestMs, tookMs)
        if (tookMs < listLimitMs) continue
        // Twice in a row is no accident of the machine.
        const again = await timeList(tenant, path)
        if (again < listLimitMs) continue
        problems.push(
          `${path.replace(agentId, 'AGENT')}: ${again.toFixed(0)} ms at request ${turn + 1}`,
        )
        break
      }
    }
    const [worst = ''] = pathsOf(agentId, call.id)
    const lists = Array.from({ length: atOnce }, () => timeList(tenant, worst))
    const number = stage.newNumber()
    const startedMs = performance.now()
    const placed = await stage.tenant.call(stage.agentId, number, 'beside lists')
    const rung = await trunk.callTo(number, limits.ringMs * 4).catch(() => undefined)
    const ringMs = performance.now() - startedMs
    await Promise.all(lists)
    await rung?.request('BYE')
    if (placed.status !== 202 || ringMs > limits.ringMs)
      problems.push(`beside ${atOnce} lists a call rang after ${ringMs.toFixed(0)} ms`)
    await database.query('delete from calls where organization_id = $1 and id <> $2', [
      tenant.id,
      call.id,
    ])
    return {
      figure: `slowest list ${slowestMs.toFixed(0)} ms, a call beside ${atOnce} rang after ${ringMs.toFixed(0)} ms`,
      problems,
    }
  },
}

const timeList = async (tenant: Tenant, path: string): Promise<number> => {
  const startedMs = performance.now()
  await tenant.request('GET', path)
  return performance.now() - startedMs
}

/** The first one matches nothing. */
const pathsOf = (agentId: string, callId: string): string[] => {
  const filters = [
    `agent_id=${agentId}`,
    'status=failed',
    'status=completed',
    `contact_id=${callId}`,
    'created_before=2020-01-01T00:00:00Z',
  ]
  const pairs = filters.flatMap((first, at) =>
    filters
      .slice(at + 1)
      .filter((second) => first.split('=')[0] !== second.split('=')[0])
      .map((second) => `${first}&${second}`),
  )
  return [...pairs, ...filters].map((query) => `/calls?${query}`)
}
