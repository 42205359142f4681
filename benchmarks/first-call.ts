/**
 * From accepted to the INVITE on the wire: 200 calls placed one by one over HTTP with free capacity, to a trunk
 * that is a user agent in this process and sends 486, so that one clock measures both instants. `accepted` is
 * measured twice: when the request was sent (an upper bound, including HTTP and commit) and when its 202 arrived.
 * Usage: `npm run bench first-call -- [calls]`.
 */
import { anySource } from '../src/sip/gate/sources.ts'
import { createUserAgent } from '../src/sip/user-agent/user-agent.ts'
import { terminalStates, type ApiClient } from '../tests/support/api-client.ts'
import { liveSettings, openLiveTenant } from '../tests/support/live-tenant.ts'
import { createInstallation, startOutdial } from '../tests/support/outdial-process.ts'
import { until } from '../tests/support/until.ts'

const calls = Number(process.argv[2] ?? 200)
const warmUpCalls = 20
const goalMs = 10

interface Delay {
  readonly fromRequestMs: number
  readonly fromAcceptedMs: number
}

const main = async (): Promise<void> => {
  const invited = new Map<string, PromiseWithResolvers<number>>()
  const arrival = (number: string): PromiseWithResolvers<number> => {
    const known = invited.get(number) ?? Promise.withResolvers<number>()
    invited.set(number, known)
    return known
  }
  const phone = createUserAgent({
    sources: anySource,
    bindAddress: '127.0.0.1',
    maxUnknownPerSecond: 1000,
  })
  phone.onInvite((incoming) => {
    const atMs = performance.now()
    incoming.reject(486, 'Busy Here')
    arrival(/\+\d+/.exec(incoming.request.uri)?.[0] ?? '').resolve(atMs)
  })
  await phone.start()
  const installation = await createInstallation({
    ...liveSettings(`sip:127.0.0.1:${phone.localPort}`),
    OUTDIAL_MAX_CPS: '1000',
  })
  const outdial = await startOutdial(installation.env)
  try {
    const { api, agent } = await openLiveTenant(outdial)
    const delays: Delay[] = []
    for (let index = 0; index < warmUpCalls + calls; index += 1) {
      const number = `+1202555${String(3000 + index)}`
      const sentMs = performance.now()
      const placed = await api.post('/calls', {
        agent_id: agent,
        recipient: { external_id: number, name: 'Bench', phone_number: number },
      })
      const acceptedMs = performance.now()
      if (placed.status !== 202) throw new Error(JSON.stringify(placed.body))
      const invitedMs = await arrival(number).promise
      if (index >= warmUpCalls)
        delays.push({ fromRequestMs: invitedMs - sentMs, fromAcceptedMs: invitedMs - acceptedMs })
      await untilEnded(api, String(placed.body['id']))
    }
    print(delays)
  } finally {
    await outdial.stop()
    await phone.stop()
    installation.remove()
  }
}

const untilEnded = (api: ApiClient, id: string): Promise<true> =>
  until(
    'the call to end',
    async () => {
      const { body } = await api.get(`/calls/${id}`)
      return terminalStates.includes(String(body['status'])) ? true : undefined
    },
    { everyMs: 5 },
  )

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[
    Math.min(values.length - 1, Math.floor(values.length * share))
  ] ?? Number.NaN

const print = (delays: readonly Delay[]): void => {
  const rows = [
    ['request sent → INVITE', delays.map(({ fromRequestMs }) => fromRequestMs)],
    ['202 received → INVITE', delays.map(({ fromAcceptedMs }) => fromAcceptedMs)],
  ] as const
  console.log(`calls  ${delays.length}, one by one, capacity free, embedded PostgreSQL with fsync`)
  console.log('                          p50 ms   p95 ms   p99 ms')
  for (const [name, values] of rows) {
    const figures = [0.5, 0.95, 0.99].map((share) =>
      percentile(values, share).toFixed(1).padStart(8),
    )
    console.log(`${name.padEnd(24)}${figures.join(' ')}`)
  }
  const p50 = percentile(rows[0][1], 0.5).toFixed(1)
  const p99 = percentile(rows[0][1], 0.99).toFixed(1)
  console.log(`first-call: p50 ${p50} ms, p99 ${p99} ms (goal p50 ≤ ${goalMs} ms, p99 ≤ 50 ms)`)
}

await main()
