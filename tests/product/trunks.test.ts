// Runs beside others: it waits for most of its 20 s.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { headerOf, type SipRequest } from '../../src/sip/message/message.ts'
import { terminalStates, type ApiClient } from '../support/api-client.ts'
import { freeUdpPort } from '../support/free-port.ts'
import { openLiveTenant } from '../support/live-tenant.ts'
import {
  askOutdial,
  createInstallation,
  everyCommand,
  startOutdial,
} from '../support/outdial-process.ts'
import { until } from '../support/until.ts'
import { openVanishingTrunk, type TrunkAnswer } from '../support/vanishing-trunk.ts'

interface ShownTrunk {
  readonly name: string
  readonly state: string
  readonly has_password: boolean
  readonly paused: boolean
  readonly gateways: readonly { readonly uri: string; readonly state: string }[]
}

interface Explained {
  readonly reasons: readonly { readonly code: string }[]
  readonly decisions: readonly { readonly decision: string; readonly reason?: string }[]
}

const place = async (api: ApiClient, agent: string, number: string): Promise<string> => {
  const placed = await api.post('/calls', {
    agent_id: agent,
    recipient: { external_id: number, name: 'Callee', phone_number: number },
  })
  assert.equal(placed.status, 202, JSON.stringify(placed.body))
  return String(placed.body['id'])
}

const endOf = (api: ApiClient, id: string) =>
  until(`call ${id} to end`, async () => {
    const { body } = await api.get(`/calls/${id}`)
    return terminalStates.includes(String(body['status'])) ? body : undefined
  })

/** A trunk that keeps every INVITE, and declines it. */
const openTrunk = async (answer: () => TrunkAnswer = () => ({ status: 486 })) => {
  const invites: SipRequest[] = []
  const trunk = await openVanishingTrunk({
    answer: (invite) => {
      invites.push(invite)
      return answer()
    },
  })
  return { ...trunk, invites, uri: `sip:127.0.0.1:${trunk.port}` }
}

test('trunks are added, changed, paused and removed while the service runs, and calls follow', async () => {
  const installation = await createInstallation()
  const env: Record<string, string> = {
    ...installation.env,
    OUTDIAL_CALLER_ID: '+12025550199',
    OUTDIAL_ENGINE: 'sandbox',
  }
  const ask = <T>(...args: string[]): Promise<T> => askOutdial<T>(env, ...args)
  const [first, second] = [await openTrunk(), await openTrunk()]
  const outdial = await startOutdial(env)
  try {
    const live = await openLiveTenant(outdial)
    const waiting = await place(live.api, live.agent, '+12025550101')
    const explain = (id: string): Promise<Explained> => ask('call', 'explain', id)
    await until(
      'the call to wait for a trunk',
      async () => ((await explain(waiting)).reasons[0]?.code === 'no_trunk' ? true : undefined),
      everyCommand,
    )

    const passwordFile = join(installation.data, 'password')
    writeFileSync(passwordFile, 'correct horse\n')
    const added = await ask<ShownTrunk>(
      ...`trunk add first --uri ${first.uri} --priority 1 --user acct --from-user acct --from-domain pbx.example`.split(
        ' ',
      ),
      ...`--identity pai --number-format prefix:99 --strip 1 --countries US --password-file ${passwordFile}`.split(
        ' ',
      ),
      '--header',
      'X-Account: 42',
    )
    assert.ok(added.has_password)
    assert.ok(!JSON.stringify(added).includes('correct horse'), 'it is never shown')
    assert.equal((await endOf(live.api, waiting))['answer_status'], 'busy')
    const [invite] = first.invites
    assert.ok(invite)
    assert.match(invite.uri, /^sip:992025550101@127\.0\.0\.1:/)
    assert.match(headerOf(invite, 'from') ?? '', /^<sip:acct@pbx\.example>;tag=/)
    assert.equal(headerOf(invite, 'p-asserted-identity'), '<sip:12025550199@pbx.example>')
    assert.equal(headerOf(invite, 'x-account'), '42')

    await ask('trunk', 'add', 'second', '--uri', second.uri, '--priority', '2')
    await endOf(live.api, await place(live.api, live.agent, '+12025550102'))
    assert.equal(first.invites.length, 2, 'the lower priority goes first')
    assert.equal((await ask<ShownTrunk>('trunk', 'pause', 'first')).state, 'paused')
    await endOf(live.api, await place(live.api, live.agent, '+12025550103'))
    assert.deepEqual([first.invites.length, second.invites.length], [2, 1])
    await ask('trunk', 'resume', 'first')

    const deadPort = await freeUdpPort()
    const dead = `sip:127.0.0.1:${deadPort};transport=tcp`
    await ask('trunk', 'set', 'first', '--uri', dead, '--uri', first.uri)
    const failedOver = await place(live.api, live.agent, '+12025550104')
    assert.equal((await endOf(live.api, failedOver))['answer_status'], 'busy')
    const tried = (await explain(failedOver)).decisions.filter(
      ({ decision }) => decision === 'tried',
    )
    assert.deepEqual(
      tried.map(({ reason = '' }) => /first at (\S+),/.exec(reason)?.[1]),
      [dead, first.uri],
    )
    const shown = await ask<ShownTrunk>('trunk', 'show', 'first')
    assert.deepEqual(
      shown.gateways.map(({ state }) => state),
      ['down', 'up'],
    )
    assert.equal(shown.state, 'up')

    await ask('trunk', 'remove', 'first')
    await ask('trunk', 'set', 'second', '--countries', 'DE')
    const unserved = await place(live.api, live.agent, '+12025550105')
    await until(
      'no trunk to serve the country',
      async () => ((await explain(unserved)).reasons[0]?.code === 'no_trunk' ? true : undefined),
      everyCommand,
    )
    await ask('trunk', 'set', 'second', '--countries', 'all')
    assert.equal((await endOf(live.api, unserved))['answer_status'], 'busy')
    assert.deepEqual(
      (await ask<ShownTrunk[]>('trunk', 'list')).map(({ name }) => name),
      ['second'],
    )
  } finally {
    await outdial.stop()
    await Promise.all([first.close(), second.close()])
    installation.remove()
  }
})
