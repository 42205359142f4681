import { setTimeout as delay } from 'node:timers/promises'
import { openLiveTenant, liveSettings } from '../../support/live-tenant.ts'
import type { ApiClient } from '../../support/api-client.ts'
import {
  askOutdial,
  createInstallation,
  runOutdial,
  startOutdial,
  type OutdialProcess,
} from '../../support/outdial-process.ts'
import { until } from '../../support/until.ts'
import { watchProbes } from './watch-probes.ts'
import { judgeOutage, type OutageReport, type SeenCall } from './judge-outage.ts'
import type { OutagePeer, Way } from './ways.ts'

interface OutageOptions {
  readonly calls: number
  readonly awayMs: number
  /** Calls per second of the trunk. */
  readonly callsPerSecond: number
  /** Whether seconds are judged too: not beside other tests. */
  readonly isTimed: boolean
  readonly report: (line: string) => void
}

/** On a machine with much else to do. */
const startMs = 240_000
/** Calls that ring before the trunk goes away. */
const earlyCalls = 5
/** The longest wait between two trials of a trunk whose password is refused, and the way up of its pace. */
const recoveryMs = 300_000 + 60_000
const wholeTurnMs = 120_000

/** Plays one outage against a real service, and judges it. */
export const runWay = async (way: Way, options: OutageOptions): Promise<OutageReport> => {
  const installation = await createInstallation({ OUTDIAL_MAX_CPS: String(options.callsPerSecond) })
  const peer = await way.open(installation.data)
  Object.assign(installation.env, liveSettings(peer.uri), peer.settings)
  let outdial: OutdialProcess | undefined
  try {
    outdial = await startOutdial(installation.env, startMs)
    return await play(way, peer, outdial, installation.data, options)
  } catch (error) {
    if (outdial !== undefined) options.report(outdial.output())
    throw error
  } finally {
    await outdial?.stop()
    await peer.close()
    installation.remove()
  }
}

const play = async (
  way: Way,
  peer: OutagePeer,
  outdial: OutdialProcess,
  data: string,
  options: OutageOptions,
): Promise<OutageReport> => {
  const { calls, awayMs, callsPerSecond, report } = options
  const { agent, api } = await openLiveTenant(outdial)
  const batch = await queueBatch(api, agent, calls)
  if (way.startsAway !== true) {
    await until('the first calls', () => peer.journal.rings.size >= earlyCalls || undefined, {
      timeoutMs: 60_000,
    })
    await peer.leave()
  }
  const leftAtMs = performance.now()
  report(`${way.name}: away with ${peer.journal.rings.size} of ${calls} calls made`)
  const probes = await watchProbes(data)
  const told = await hearOfIt(way, outdial, api, batch)
  const placed = await api.post('/calls', { agent_id: agent, recipient: recipientOf(calls) })
  const ready = (await fetch(`${outdial.apiUrl}/readyz`)).status
  await delay(Math.max(0, awayMs - (performance.now() - leftAtMs)))
  await probes.stop()
  const ringsBefore = peer.journal.rings.size
  await peer.comeBack()
  const backAtMs = performance.now()
  report(`${way.name}: back after ${Math.round((backAtMs - leftAtMs) / 1000)} s`)
  const seen = await until(
    'every call to end',
    async () => {
      const { body } = await api.get(`/batches/${batch}`)
      if (!['completed', 'failed'].includes(String(body['status']))) return undefined
      const all = await readCalls(api)
      return all.every(({ status }) => isOver(status)) ? all : undefined
    },
    { timeoutMs: recoveryMs + wholeTurnMs + (calls / callsPerSecond) * 4_000, everyMs: 1_000 },
  )
  return judgeOutage({
    way,
    ...told,
    expected: calls + 1,
    accepted: placed.status,
    ready,
    leftAtMs,
    backAtMs,
    endedAtMs: performance.now(),
    ringsBefore,
    callsPerSecond,
    isTimed: options.isTimed,
    pings: probes.pings,
    journal: peer.journal,
    calls: seen,
  })
}

const firstNumber = 2_000_000
const recipientOf = (index: number) => ({
  external_id: `callee-${index}`,
  name: 'Callee',
  // Real exchanges of one area: neither premium nor reserved.
  phone_number: `+1415${String(firstNumber + index)}`,
})

const queueBatch = async (api: ApiClient, agent: string, calls: number): Promise<string> => {
  const recipients = Array.from({ length: calls }, (_, index) => recipientOf(index))
  const created = await api.post('/batches', { name: 'Outage', agent_id: agent, recipients })
  if (created.status !== 201) throw new Error(JSON.stringify(created.body))
  const batch = String(created.body['id'])
  await api.post(`/batches/${batch}/start`, {})
  return batch
}

interface Told {
  /** The reasons that `call explain` gave of a waiting call, the last ones if it never gave the expected one. */
  readonly explained: readonly { readonly code: string; readonly message: string }[]
  readonly doctor: string
}

const explainMs = 60_000

/** Asks as an operator would, once calls wait. */
const hearOfIt = async (
  way: Way,
  { env }: OutdialProcess,
  api: ApiClient,
  batch: string,
): Promise<Told> => {
  let explained: Told['explained'] = []
  const deadline = performance.now() + explainMs
  while (performance.now() < deadline) {
    const { body } = await api.get(`/calls?batch_id=${batch}&status=queued&limit=1`)
    const [call] = body['data'] as unknown as { id: string }[]
    if (call === undefined) break
    explained = (await askOutdial<{ reasons: Told['explained'] }>(env, 'call', 'explain', call.id))
      .reasons
    if (explained[0]?.code === way.waitCode && way.reason.test(explained[0].message)) break
    await delay(1_000)
  }
  const doctor = await runOutdial(env, 'doctor', '--json')
  return { explained, doctor: doctor.stdout }
}

const isOver = (status: string): boolean => ['completed', 'failed', 'cancelled'].includes(status)

const readPages = async <T>(api: ApiClient, path: string): Promise<T[]> => {
  const all: T[] = []
  for (let cursor = ''; ;) {
    const { status, headers, body } = await api.get(`${path}${cursor}`)
    if (status === 429) {
      await delay(Number(headers.get('retry-after') ?? 1) * 1_000)
      continue
    }
    all.push(...(body['data'] as unknown as T[]))
    if (typeof body['next_cursor'] !== 'string') return all
    cursor = `&cursor=${encodeURIComponent(body['next_cursor'])}`
  }
}

interface ApiCall {
  readonly contact_id: string
  readonly status: string
  readonly outcome_reason?: string
}

const readCalls = async (api: ApiClient): Promise<SeenCall[]> => {
  const contacts = await readPages<{ id: string; phone_number: string }>(api, '/contacts?limit=100')
  const numberOf = new Map(contacts.map(({ id, phone_number: number }) => [id, number]))
  return (await readPages<ApiCall>(api, '/calls?limit=100')).map((call) => ({
    number: numberOf.get(call.contact_id) ?? '',
    status: call.status,
    reason: call.outcome_reason ?? '',
  }))
}
