import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freeUdpPort } from '../support/free-port.ts'
import { liveSettings, openLiveTenant } from '../support/live-tenant.ts'
import { askOutdial, createInstallation, startOutdial } from '../support/outdial-process.ts'
import { rawInvite, insideOf } from '../support/sip/raw-invite.ts'
import { openScriptedPeer } from '../support/sip/scripted-peer.ts'
import { audioSdp } from '../support/sip/test-agents.ts'
import { until } from '../support/until.ts'

test('a person who calls back the running service hears the message of the organization', async () => {
  const sipPort = await freeUdpPort()
  const trunk = await openScriptedPeer(sipPort)
  const installation = await createInstallation({
    ...liveSettings(`sip:127.0.0.1:${trunk.port}`),
    OUTDIAL_SIP_PORT: String(sipPort),
  })
  const outdial = await startOutdial(installation.env)
  try {
    const { org } = await openLiveTenant(outdial)
    const text = 'message:We will call you again.'
    await askOutdial(installation.env, 'org', 'set', org, '--calls-back', text)
    const to = `sip:+12025550199@127.0.0.1:${sipPort}`
    const invite = rawInvite({ to, port: trunk.port, body: audioSdp() })
    trunk.send(invite)
    await trunk.next('180 INVITE')
    const success = await trunk.next('200 INVITE')
    trunk.send(insideOf(invite, success, { method: 'ACK', sequence: 1 }))
    trunk.reply(await trunk.nextRequest('BYE'), 200)
    const listed = await until('the call back in the list', async () => {
      const rows = await askOutdial<Record<string, unknown>[]>(
        installation.env,
        ...`calls-back list --org ${org}`.split(' '),
      )
      return rows[0]?.['sip_status'] === 200 ? rows : undefined
    })
    assert.deepEqual(
      listed.map(({ result, called_number: called }) => [result, called]),
      [['message', '+12025550199']],
    )
  } finally {
    await outdial.stop()
    installation.remove()
    await trunk.close()
  }
})
