// Runs beside others: it waits for most of its 16 s.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { terminalStates, type ApiClient } from '../support/api-client.ts'
import { liveSettings, openLiveTenant } from '../support/live-tenant.ts'
import {
  askOutdial,
  createInstallation,
  everyCommand,
  startOutdial,
} from '../support/outdial-process.ts'
import { startSandboxCarrier } from '../support/sandbox-carrier-process.ts'
import { openSandboxTenant } from '../support/sandbox-tenant.ts'
import { until } from '../support/until.ts'

interface Explained {
  readonly status: string
  readonly reasons: readonly { readonly code: string; readonly message: string }[]
  readonly decisions: readonly { readonly decision: string }[]
}

/** Busy at once, in both carriers. */
const callee = '+12025550101'

const place = async (api: ApiClient, agent: string): Promise<string> => {
  const placed = await api.post('/calls', {
    agent_id: agent,
    recipient: { external_id: 'callee', name: 'Callee', phone_number: callee },
  })
  assert.equal(placed.status, 202, JSON.stringify(placed.body))
  return String(placed.body['id'])
}

const endOf = (api: ApiClient, id: string) =>
  until(`call ${id} to end`, async () => {
    const { body } = await api.get(`/calls/${id}`)
    return terminalStates.includes(String(body['status'])) ? body : undefined
  })

test('a live call waits for trunk, caller ID and engine, and is dialled once they are set; a sandbox call never waits', async () => {
  const installation = await createInstallation()
  const carrier = await startSandboxCarrier(join(installation.data, 'journal'))
  const trunk = liveSettings(carrier.trunk)
  const { env } = installation
  const explain = (id: string): Promise<Explained> => askOutdial(env, 'call', 'explain', id)
  const waitsFor = async (id: string, reason: string): Promise<Explained> =>
    until(
      `the call to wait for ${reason}`,
      async () => {
        const told = await explain(id)
        return told.reasons[0]?.code === reason ? told : undefined
      },
      everyCommand,
    )
  let outdial = await startOutdial(env)
  try {
    const live = await openLiveTenant(outdial)
    const sandbox = await openSandboxTenant(outdial)
    const waiting = await place(live.api, live.agent)
    const told = await waitsFor(waiting, 'no_trunk')
    const messages = told.reasons.map(({ message }) => message).join(' ')
    assert.match(messages, /OUTDIAL_SIP_TRUNK.*OUTDIAL_CALLER_ID/)
    assert.deepEqual(told.decisions, [], 'it is not claimed at all')
    assert.equal(
      (await endOf(sandbox.api, await place(sandbox.api, sandbox.agent)))['answer_status'],
      'busy',
    )
    const findings = await askOutdial<{ check: string; message: string }[]>(env, 'doctor')
    assert.match(
      findings.flatMap(({ check, message }) => (check === 'live' ? [message] : [])).join(),
      /no_trunk.*no_caller_id.*no_engine/,
    )

    await outdial.stop()
    outdial = await startOutdial({ ...env, OUTDIAL_SIP_TRUNK: carrier.trunk })
    await waitsFor(waiting, 'no_caller_id')

    await outdial.stop()
    const { OUTDIAL_ENGINE: _, ...mute } = trunk
    outdial = await startOutdial({ ...env, ...mute })
    const engineless = await waitsFor(waiting, 'no_engine')
    assert.deepEqual(
      engineless.decisions.map(({ decision }) => decision),
      ['wait', 'wait'],
    )

    await outdial.stop()
    outdial = await startOutdial({ ...env, ...trunk })
    const busy = await endOf(live.api, waiting)
    assert.equal(busy['answer_status'], 'busy', JSON.stringify(busy))
    const tried = await place(sandbox.api, sandbox.agent)
    assert.equal((await endOf(sandbox.api, tried))['answer_status'], 'busy')
    assert.deepEqual(
      [...new Set(carrier.journal().map(({ call_id }) => call_id))],
      [waiting],
      'the trunk saw the live call, and no other',
    )
  } finally {
    await outdial.stop()
    await carrier.stop()
    installation.remove()
  }
})

test('an organization is live by default with a trunk, and prints its policy as a reusable file', async () => {
  const installation = await createInstallation()
  const { env, data } = installation
  try {
    interface Shown {
      readonly id: string
      readonly mode: string
      readonly policy: object
      readonly rates: object
    }
    const create = (settings: Record<string, string>, ...args: string[]): Promise<Shown> =>
      askOutdial({ ...env, ...settings }, 'org', 'create', '--name', 'Acme', ...args)
    const show = (id: string): Promise<Shown> => askOutdial(env, 'org', 'show', id)
    const outdial = await startOutdial(env)
    try {
      assert.equal((await create({})).mode, 'sandbox')
      const live = await create({ OUTDIAL_SIP_TRUNK: 'sip:192.0.2.1' })
      assert.equal(live.mode, 'live')
      assert.equal((await create({}, '--mode', 'live')).mode, 'live')
      await askOutdial(env, 'org', 'set', live.id, '--rate', 'read=7')
      const shown = await show(live.id)
      assert.deepEqual(shown.rates, { read: 7 })
      const file = join(data, 'policy.json')
      writeFileSync(file, JSON.stringify(shown.policy))
      const copy = await create({}, '--policy', file)
      assert.deepEqual((await show(copy.id)).policy, shown.policy)
    } finally {
      await outdial.stop()
    }
  } finally {
    installation.remove()
  }
})
