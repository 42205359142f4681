import { setTimeout as delay } from 'node:timers/promises'
import { createRandom, type Random } from '../../support/random.ts'
import type { Requests, Settled } from './requests.ts'
import type { Tenant } from './stage.ts'

/** What the clients did, and the promises they got. */
export interface Load {
  /** Every request with a response. */
  readonly settled: readonly Settled[]
  /** Ids by resource, as responses named them. */
  readonly calls: ReadonlyMap<string, Tenant>
  readonly batches: ReadonlyMap<string, Tenant>
  readonly runs: ReadonlyMap<string, Tenant>
  /** Responses that contradict each other or must not occur. */
  readonly faults: readonly string[]
  /** Ends when every request has its response. */
  stop(): Promise<void>
  /** Resumes everything that was paused, so that all work can end. */
  resumeAll(): Promise<void>
}

export interface LoadOptions {
  readonly seed: number
  readonly tenants: readonly Tenant[]
  readonly requests: Requests
  /** Accepted and unfinished work; no more is added above `maxOpen`. */
  readonly open: () => number
  /** Work at once, of which some remains after the last kill. */
  readonly maxOpen?: number
}

const clients = 6
/** Enough to fill all channels for a while, few enough to end soon after the last kill. */
const usualMaxOpen = 160
/** Of a batch, at most. */
const recipients = 6
const pauseMs = { min: 10, max: 180 } as const

/**
 * Several clients that place calls, batches and runs, cancel and pause some, and repeat requests without a
 * response.
 */
export const startLoad = ({
  seed,
  tenants,
  requests,
  open,
  maxOpen = usualMaxOpen,
}: LoadOptions): Load => {
  const settled: Settled[] = []
  const calls = new Map<string, Tenant>()
  const batches = new Map<string, Tenant>()
  const runs = new Map<string, Tenant>()
  const faults: string[] = []
  let isStopping = false

  const post = async (tenant: Tenant, path: string, body: unknown, key?: string) => {
    const one = await requests.post(tenant, path, body, key)
    settled.push(one)
    if (one.status >= 300 && !expectedRefusals.has(one.answer.error?.code ?? ''))
      faults.push(`POST ${path} was answered ${one.status} ${JSON.stringify(one.answer)}`)
    return one
  }

  /** Two clients with one key at the same moment: one effect, one response. */
  const postTwice = async (tenant: Tenant, path: string, body: unknown) => {
    const key = crypto.randomUUID()
    const [one, other] = await Promise.all([
      post(tenant, path, body, key),
      post(tenant, path, body, key),
    ])
    if (one.status < 300 && one.answer.id !== other.answer.id)
      faults.push(`one key gave ${one.answer.id} and ${other.answer.id} (POST ${path})`)
    return one
  }

  const keep = (ids: Map<string, Tenant>, { status, answer, tenant }: Settled): void => {
    if (status < 300 && answer.id !== undefined) ids.set(answer.id, tenant)
  }

  const placeCall = async (random: Random, tenant: Tenant): Promise<void> => {
    const contact = random.pick(tenant.contacts)
    const whom = random.chance(0.2) ? { recipient: contact.body } : { contact_id: contact.id }
    const body = { agent_id: tenant.agentId, ...whom }
    const placed = await (random.chance(0.1) ? postTwice : post)(tenant, '/calls', body)
    keep(calls, placed)
  }

  const placeBatch = async (random: Random, tenant: Tenant): Promise<void> => {
    const contactIds = Array.from({ length: recipients }, () => random.pick(tenant.contacts).id)
    const body = { name: 'Trial', agent_id: tenant.agentId, contact_ids: [...new Set(contactIds)] }
    const drafted = await post(tenant, '/batches', body)
    keep(batches, drafted)
    if (drafted.answer.id === undefined) return
    const path = `/batches/${drafted.answer.id}`
    await post(tenant, `${path}/start`, {})
    if (!random.chance(0.3)) return
    await delay(random.between(0, 1_500))
    await post(tenant, `${path}/${random.pick(['pause', 'cancel'])}`, {})
    if (random.chance(0.5)) await post(tenant, `${path}/start`, {})
  }

  const placeRun = async (random: Random, tenant: Tenant): Promise<void> => {
    const body = {
      automation_id: random.pick(tenant.automations).id,
      contact_id: random.pick(tenant.contacts).id,
    }
    keep(runs, await post(tenant, '/automation-runs', body))
  }

  const cancelSome = async (random: Random): Promise<void> => {
    const ids = random.chance(0.7) ? calls : runs
    const [id, tenant] = [...ids].at(-Math.ceil(random.between(0.1, 40))) ?? []
    if (id === undefined || !tenant) return
    await post(tenant, `/${ids === calls ? 'calls' : 'automation-runs'}/${id}/cancel`, {})
  }

  const act = (random: Random): Promise<void> => {
    const tenant = random.pick(tenants)
    const dice = random.next()
    if (dice < 0.62) return placeCall(random, tenant)
    if (dice < 0.72) return placeBatch(random, tenant)
    if (dice < 0.92) return placeRun(random, tenant)
    return cancelSome(random)
  }

  const work = async (client: number): Promise<void> => {
    const random = createRandom(seed * 1_000 + client)
    while (!isStopping) {
      if (open() < maxOpen) await act(random)
      await delay(random.between(pauseMs.min, pauseMs.max))
    }
  }
  const working = Promise.all(Array.from({ length: clients }, (_, client) => work(client)))

  return {
    settled,
    calls,
    batches,
    runs,
    faults,
    async stop() {
      isStopping = true
      await working
    },
    async resumeAll() {
      for (const [id, tenant] of batches) await post(tenant, `/batches/${id}/start`, {})
    },
  }
}

/**
 * A contact has at most one active run of an Automation (D6), and an ended batch can be neither paused nor started:
 * the load does not keep track.
 */
const expectedRefusals = new Set(['duplicate_active_run', 'resource_state_conflict'])
