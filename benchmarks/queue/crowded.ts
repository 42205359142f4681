import { parkCalls } from '../../src/domains/calls/lifecycle/park-calls.ts'
import { settle } from './claims.ts'
import { median, percentile, row, timed } from './figures.ts'
import { createClaimer, openStand, run, type Connection } from './stand.ts'

/*
 * One of a hundred organizations has a live call with a number, and 50 thousand calls to it wait before all its
 * others: claims of the hundred while these calls are parked, and afterwards, compared with the same without them.
 */

const crowd = 50_000
const callsPerClaim = 50
const claimsAfterwards = 200
const widths = [36, 8, 8, 8, 10]

// The first of them is live. Ahead of all other immediate calls of that organization.
const crowdText = `with lane as (select organization_id, id from lanes where kind = 'immediate' order by id limit 1)
  insert into calls (organization_id, id, origin, contact_id, agent_id, agent_version, phone_number, lane_id, not_before,
                     lease_token, route)
  select l.organization_id, uuidv7(), 'api', l.organization_id, l.organization_id, 1, '+12025550100', l.id,
         now() - interval '1 day' + n * interval '1 millisecond',
         case when n = 1 then gen_random_uuid() end, case when n = 1 then 'env' end
    from lane l cross join generate_series(1, $1::integer) as n`

export const measureCrowdedNumber = async (server: Connection): Promise<void> => {
  const heading = ['100 organizations, 50 calls a claim', 'times', 'p50 ms', 'p99 ms', 'calls got']
  console.log(`\n${row(heading, widths)}`)
  await measure(server, 'as usual', 0)
  await measure(server, `${crowd} to one number`, crowd)
}

const measure = async (server: Connection, name: string, count: number): Promise<void> => {
  const shape = { calls: 100_000, organizations: 100 }
  const stand = await openStand(server, `crowded_${count}`, shape)
  const { db } = stand
  const claimNext = createClaimer(stand, callsPerClaim)
  if (count > 0) await run(db, crowdText, [count])
  await run(db, 'analyze calls')
  const phases = { parking: createPhase(), afterwards: createPhase() }
  const parkingMs: number[] = []
  let waiting = Math.max(0, count - 1)
  while (phases.afterwards.ms.length < claimsAfterwards) {
    const phase = waiting > 0 ? phases.parking : phases.afterwards
    const sentMs = performance.now()
    const claim = await claimNext()
    phase.ms.push(performance.now() - sentMs)
    phase.got += claim.calls.length
    for (const [organizationId, lanes] of claim.crowded)
      parkingMs.push(
        await timed(async () => (waiting -= await parkCalls(db, organizationId, lanes))),
      )
    await settle(db, claim.calls)
  }
  if (count > 0) {
    print(`${name}, while they are parked`, phases.parking)
    print('parking up to 500 of them', { ms: parkingMs, got: count - 1 })
  }
  print(count > 0 ? `${name}, afterwards` : name, phases.afterwards)
  await stand.close()
}

interface Phase {
  readonly ms: number[]
  got: number
}

const createPhase = (): Phase => ({ ms: [], got: 0 })

const print = (name: string, { ms, got }: Phase): void =>
  console.log(row([name, String(ms.length), median(ms), percentile(ms, 0.99), String(got)], widths))
