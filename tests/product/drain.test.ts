// Runs beside others: it waits for most of its 27 s.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import pg from 'pg'
import { embeddedConnection } from '../support/embedded-connection.ts'
import { terminalStates } from '../support/api-client.ts'
import {
  askOutdial,
  createInstallation,
  everyCommand,
  startOutdial,
} from '../support/outdial-process.ts'
import { openSandboxTenant } from '../support/sandbox-tenant.ts'
import { until } from '../support/until.ts'

test('SIGTERM stops claiming, ends live calls with BYE after the limit, and keeps queued ones', async () => {
  const installation = await createInstallation({ OUTDIAL_DRAIN_SECONDS: '5' })
  const { env } = installation
  let outdial = await startOutdial(env)
  try {
    const { org, agent, api } = await openSandboxTenant(outdial)
    await askOutdial(env, ...`org set ${org} --concurrency 1`.split(' '))
    const place = async (number: string): Promise<string> => {
      const { status, body } = await api.post('/calls', {
        agent_id: agent,
        recipient: { external_id: number, name: 'Callee', phone_number: number },
      })
      assert.equal(status, 202)
      return String(body['id'])
    }
    const statusOf = async (id: string): Promise<Record<string, unknown>> =>
      (await api.get(`/calls/${id}`)).body
    const talking = await place('+12025550108')
    const waiting = await place('+12025550101')
    await until('the first call to be answered', async () =>
      (await statusOf(talking))['status'] === 'in_progress' ? true : undefined,
    )
    assert.equal((await statusOf(waiting))['status'], 'queued', 'capacity is one call')

    const exited = once(outdial.child, 'exit')
    outdial.child.kill('SIGTERM')
    await until('the calls that remain to be counted', async () =>
      /1 call is still live/.test(outdial.output()) ? true : undefined,
    )
    const ready = await fetch(`${outdial.apiUrl}/readyz`)
    assert.deepEqual([ready.status, await ready.json()], [503, { status: 'draining' }])
    assert.equal((await statusOf(talking))['status'], 'in_progress', 'a draining node answers')
    const accepted = await place('+12025550109')
    const explained = await api.get(`/calls/${accepted}/explanation`)
    assert.deepEqual((explained.body as { reasons?: unknown }).reasons, [
      { code: 'node_draining', message: 'The installation is stopping and dials no call.' },
    ])
    assert.deepEqual(await exited, [0, null])
    outdial = await startOutdial(env)
    const ended = await statusOf(talking)
    assert.equal(ended['status'], 'completed', JSON.stringify(ended))
    assert.equal(ended['answer_status'], 'answered')
    assert.match(String(ended['outcome_reason']), /shut down/)
    const dialled = await until('the queued call to be dialled', async () => {
      const call = await statusOf(waiting)
      return terminalStates.includes(String(call['status'])) ? call : undefined
    })
    assert.equal(dialled['answer_status'], 'busy')
  } finally {
    await outdial.stop()
    installation.remove()
  }
})

test('a second signal hangs up every live call at once', async () => {
  const installation = await createInstallation({ OUTDIAL_DRAIN_SECONDS: '600' })
  const { env } = installation
  let outdial = await startOutdial(env)
  try {
    const { org, agent } = await openSandboxTenant(outdial)
    const dial = ['dial', '--org', org, '--agent', agent, '+12025550108']
    const { id } = await askOutdial<{ id: string }>(env, ...dial)
    const show = () => askOutdial<Record<string, unknown>>(env, 'call', 'show', id)
    await until(
      'the call to be answered',
      async () => ((await show())['status'] === 'in_progress' ? true : undefined),
      everyCommand,
    )
    outdial.child.kill('SIGINT')
    await until('the first signal to be heard', async () =>
      /Stopping/.test(outdial.output()) ? true : undefined,
    )
    const exited = once(outdial.child, 'exit')
    outdial.child.kill('SIGINT')
    assert.deepEqual(await exited, [130, null])
    outdial = await startOutdial(env)
    const call = await show()
    assert.equal(call['status'], 'completed', JSON.stringify(call))
    assert.match(String(call['outcome_reason']), /shut down/)
  } finally {
    await outdial.stop()
    installation.remove()
  }
})

test('SIGTERM during a start, once calls may be dialled, ends them with BYE too', async () => {
  const installation = await createInstallation({ OUTDIAL_DRAIN_SECONDS: '0' })
  const { env, data } = installation
  let outdial = await startOutdial(env)
  try {
    const { org, agent } = await openSandboxTenant(outdial)
    await outdial.stop()
    // Accepted while no service runs: dialled as soon as a start takes work.
    const dial = ['dial', '--org', org, '--agent', agent, '+12025550108']
    const { id } = await askOutdial<{ id: string }>(env, ...dial)

    const main = join(import.meta.dirname, '../../src/main.ts')
    const starting = spawn(process.execPath, [main, 'start'], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const exited = once(starting, 'exit')
    const database = new pg.Client(embeddedConnection(data))
    for await (const line of createInterface(starting.stderr)) {
      if (line.includes('the database is ready')) await database.connect()
      if (!line.includes('dispatcher started')) continue
      // The start ends with a query for the first organization, which must wait until the call is answered.
      await database.query('begin; lock table organizations in share mode')
      await until('the call to be answered', async () => {
        const { rows } = await database.query('select status from calls where id = $1', [id])
        return (rows as { status: string }[])[0]?.status === 'in_progress' || undefined
      })
      starting.kill('SIGTERM')
      await database.query('rollback')
      await database.end()
    }
    assert.deepEqual(await exited, [0, null])

    outdial = await startOutdial(env)
    const call = await askOutdial<Record<string, unknown>>(env, 'call', 'show', id)
    assert.deepEqual([call['status'], call['answer_status']], ['completed', 'answered'])
    assert.match(String(call['outcome_reason']), /shut down/)
  } finally {
    await outdial.stop()
    installation.remove()
  }
})
