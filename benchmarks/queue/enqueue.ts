import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../src/database/database.ts'
import { sql } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open-database.ts'
import { queueCall, callsChannel } from '../../src/domains/calls/queue-call.ts'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import { newOrganizationId } from '../../src/domains/organizations/organization-id.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { median, percentile, ratePerSecond, row } from './figures.ts'
import { openStand, run, type Connection } from './stand.ts'

/** How fast calls are accepted, and how soon a dispatcher is notified. */

const atOnce = 32
const forMs = 3_000
const wakeUps = 100
const hintPauseMs = 30
const widths = [26, 12]

export const measureEnqueue = async (server: Connection): Promise<void> => {
  console.log(`\n${row(['accepted one by one', 'calls/s'], widths)}`)
  for (const organizations of [1, 100]) {
    const stand = await openStand(server, `enqueue_${organizations}`, {
      calls: 1000,
      organizations,
    })
    const ids = await callable(stand.db)
    let next = 0
    const perSecond = await ratePerSecond({ atOnce, forMs }, async () => {
      next += 1
      await accept(stand.db, ids[next % ids.length] ?? newOrganizationId())
      return 1
    })
    console.log(row([`${organizations} organizations`, perSecond], widths))
    await stand.close()
  }
}

const accept = (db: Database, organizationId: OrganizationId) =>
  db.transaction((tx) =>
    queueCall(tx, organizationId, {
      agentId: organizationId,
      contactId: organizationId,
      origin: 'api',
    }),
  )

const idsStatement = sql('bench.ids', 'select id from organizations')

/** Gives every organization a contact for its calls, and a policy that allows it. */
const callable = async (db: Database): Promise<OrganizationId[]> => {
  await run(
    db,
    `update organizations set policy = jsonb_build_object('time_zone', 'UTC', 'allowed_countries', 'all', 'windows',
       jsonb_build_array(jsonb_build_object('weekdays', jsonb_build_array('monday', 'tuesday', 'wednesday', 'thursday',
         'friday', 'saturday', 'sunday'), 'start_time', '00:00', 'end_time', '24:00')))`,
  )
  await run(
    db,
    `insert into contacts (organization_id, id, source, name, phone_number)
     select id, id, 'manual_dial', 'bench', '+12025550100' from organizations`,
  )
  return (await db.rows<{ id: OrganizationId }>(idsStatement, [])).map(({ id }) => id)
}

/** From the commit of one process to the dispatcher of another: the hint crosses PostgreSQL. */
export const measureWakeUp = async (server: Connection): Promise<void> => {
  const stand = await openStand(server, 'wake_up', { calls: 10, organizations: 1 })
  const [organizationId = newOrganizationId()] = await callable(stand.db)
  const listening = openDatabase({ connection: stand.connection, logger: silentLogger })
  let heard: () => void = () => undefined
  const listener = await listening.listen(callsChannel, () => heard())
  const times: number[] = []
  for (let index = 0; index < wakeUps; index += 1) {
    const woken = new Promise<void>((resolve) => {
      heard = resolve
    })
    const sentMs = performance.now()
    await accept(stand.db, organizationId)
    stand.db.hint(callsChannel)
    await woken
    times.push(performance.now() - sentMs)
    // A second hint within 20 ms is held back; this measures the first.
    await delay(hintPauseMs)
  }
  await listener.stop()
  await listening.stop()
  await stand.close()
  const latencyWidths = [26, 12, 12]
  console.log(`\n${row(['accepted to woken', 'p50 ms', 'p99 ms'], latencyWidths)}`)
  console.log(row(['another process', median(times), percentile(times, 0.99)], latencyWidths))
}
