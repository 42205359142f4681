// Runs beside others: it waits for most of its 36 s.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { liveSettings } from '../support/live-tenant.ts'
import pg from 'pg'
import { lostNodeReason } from '../../src/dispatch/lease/rescue.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { createInstallation, startOutdial } from '../support/outdial-process.ts'
import { startSandboxCarrier } from '../support/sandbox-carrier-process.ts'
import { until } from '../support/until.ts'
import { startSharedDatabase, urlOf } from './trial/fleet.ts'
import { createRequests } from './trial/requests.ts'
import { setStage, type Tenant } from './trial/stage.ts'

/** Longer than any lease. */
const pauseMs = 30_000
/** Limit for the return of a dead node's calls to the queue. */
const returnLimitMs = 15_000

interface CallRow {
  readonly status: string
  readonly is_leased: boolean
  readonly outcome_reason: string | null
  readonly requeued_at: Date | null
}

const callQuery = `select status, lease_token is not null as is_leased, outcome_reason,
       (select (each ->> 'at')::timestamptz from jsonb_array_elements(decisions) each
         where each ->> 'decision' = 'requeued' limit 1) as requeued_at
  from calls
 where id = $1`

test('a process that was paused for 30 s sends no INVITE on a lost lease', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'outdial-paused-'))
  const carrier = await startSandboxCarrier(join(folder, 'journal'), 'many')
  const { server } = await startSharedDatabase(folder)
  const commits = await startCommitHolder(server.connection)
  const installationOn = (connection: Parameters<typeof urlOf>[0]) =>
    createInstallation({ ...liveSettings(carrier.trunk), DATABASE_URL: urlOf(connection) })
  const homes = [
    await installationOn(commits.connection),
    await installationOn(server.connection),
  ] as const
  const clients: pg.Client[] = []
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client(server.connection)
    await client.connect()
    clients.push(client)
    return client
  }
  const paused = await startOutdial(homes[0].env)
  let rescuer: Awaited<ReturnType<typeof startOutdial>> | undefined
  try {
    const [tenant] = await setStage({ connection: server.connection })
    assert.ok(tenant)
    const observer = await connect()
    const callOf = async (id: string): Promise<CallRow> => {
      const { rows } = await observer.query<CallRow>(callQuery, [id])
      return rows[0] ?? assert.fail(`there is no call ${id}`)
    }

    // One call is stopped between the commit of `dialing` and its INVITE, one within the transaction that commits
    // it.
    const nodesLock = await connect()
    await nodesLock.query('begin; lock table nodes in access exclusive mode')
    const requests = createRequests([paused.apiUrl])
    const dialing = await placeCall(requests, tenant, 0)
    const leased = await placeCall(requests, tenant, 1)
    await until('both calls to wait at the gate', async () => {
      const { rows } = await observer.query<{ waiting: number }>(
        `select count(*)::int as waiting from pg_stat_activity
          where wait_event_type = 'Lock' and query like '%set status      = ''dialing''%'`,
      )
      return rows[0]?.waiting === 2 ? true : undefined
    })
    const rowLock = await connect()
    await rowLock.query('begin')
    await rowLock.query('select from calls where id = $1 for update', [leased])
    commits.hold()
    await nodesLock.query('rollback')
    await until('one call to be dialing', async () =>
      (await callOf(dialing)).status === 'dialing' ? true : undefined,
    )
    const pausedAtMs = Date.now()
    paused.child.kill('SIGSTOP')
    commits.release()
    await rowLock.query('rollback')
    assert.deepEqual(invitesOf(dialing), [], 'it was stopped before its INVITE')
    assert.deepEqual(await statusOf(leased), ['queued', true])

    rescuer = await startOutdial(homes[1].env)
    const watchingSinceMs = Date.now()
    await until('the other call to be dialled by the other process', () =>
      invitesOf(leased).length > 0 ? true : undefined,
    )
    const { requeued_at: requeuedAt } = await callOf(leased)
    const missedMs = (requeuedAt?.getTime() ?? Infinity) - Math.max(pausedAtMs, watchingSinceMs)
    assert.ok(missedMs <= returnLimitMs, `it was back after ${missedMs} ms`)
    await until('the dialled call to be given up', async () =>
      (await callOf(dialing)).status === 'failed' ? true : undefined,
    )

    await delay(Math.max(0, pausedAtMs + pauseMs - Date.now()))
    paused.child.kill('SIGCONT')
    await until('the paused process to have missed its lease, and to carry on as another', () =>
      /taken for dead/.test(paused.output()) ? true : undefined,
    )
    const later = await placeCall(createRequests([paused.apiUrl]), tenant, 2)
    await until('a later call to end', async () =>
      (await callOf(later)).status === 'completed' ? true : undefined,
    )
    // SIGTERM with its drain: no old call is in progress any more.
    assert.equal(await paused.stop(), 0)

    assert.deepEqual(invitesOf(dialing), [], 'no INVITE left on the lost lease')
    assert.equal(invitesOf(leased).length, 1, 'the other call was dialled once')
    assert.deepEqual(await statusOf(leased), ['completed', false])
    assert.equal((await callOf(dialing)).outcome_reason, lostNodeReason)

    function invitesOf(callId: string): string[] {
      const own = carrier.journal().filter(({ call_id }) => call_id === callId)
      return [...new Set(own.map(({ sip_call_id }) => sip_call_id))]
    }
    async function statusOf(callId: string): Promise<[string, boolean]> {
      const { status, is_leased } = await callOf(callId)
      return [status, is_leased]
    }
  } finally {
    paused.child.kill('SIGCONT')
    await paused.kill()
    await rescuer?.stop()
    for (const client of clients) await client.end()
    commits.stop()
    await server.stop()
    await carrier.stop()
    for (const home of homes) home.remove()
    rmSync(folder, { recursive: true, force: true })
  }
})

/** A connection to the database on which a commit is executed, but whose response is held until `release`. */
const startCommitHolder = async (connection: Parameters<typeof urlOf>[0]) => {
  const held = new Set<Socket>()
  let isHolding = false
  const proxy = await startDatabaseProxy(connection, () => ({
    fromClient(bytes, database) {
      if (!isHolding || !bytes.includes(commitMessage)) return
      held.add(database)
      database.pause()
    },
  }))
  return {
    ...proxy,
    hold() {
      isHolding = true
    },
    release() {
      isHolding = false
      for (const database of held) database.resume()
      held.clear()
    },
  }
}

/** A simple query of PostgreSQL's protocol: its type, its length, its text. */
const commitMessage = Buffer.from('Q\0\0\0\x0bcommit\0')

/** To one of the busy numbers: it ends at once. */
const placeCall = async (
  requests: ReturnType<typeof createRequests>,
  { agentId, contacts, ...tenant }: Tenant,
  contact: number,
): Promise<string> => {
  const body = { agent_id: agentId, contact_id: contacts[contact]?.id }
  const placed = await requests.post({ agentId, contacts, ...tenant }, '/calls', body)
  return placed.answer.id ?? assert.fail(JSON.stringify(placed.answer))
}
