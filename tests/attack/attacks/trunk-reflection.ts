import { setTimeout as delay } from 'node:timers/promises'
import { trunkAddress } from '../stage/addresses.ts'
import type { Attack } from '../stage/attack.ts'
import { strangeRequest } from '../stage/requests.ts'
import { openUdpPeer } from '../stage/udp-peer.ts'

const listenMs = 4_000
/** One refusal is fair; a series of them is an attack on the trunk. */
const maxAnswersEach = 1
const messages = 20

/** Unacknowledged INVITEs in the trunk's name: each gets one response at most. */
export const trunkReflection: Attack = {
  name: 'trunk-reflection',
  goal: 'an INVITE in the trunk’s name that nobody acknowledges draws one answer at most',
  async run({ product }) {
    const peer = await openUdpPeer(trunkAddress)
    let sentBytes = 0
    for (let index = 0; index < messages; index += 1) {
      const parts = { address: peer.address, port: peer.port }
      const text = strangeRequest('INVITE', index % 2 === 0 ? parts : { ...parts, toTag: 'x' })
      sentBytes += text.length
      await peer.send(text, product.home.sipPort, '127.0.0.1')
    }
    await delay(listenMs)
    peer.close()
    const answers = peer.received.filter((text) => !text.startsWith('SIP/2.0 100')).length
    const perInvite = answers / messages
    return {
      figure: `${perInvite.toFixed(1)} answers each (× ${(peer.receivedBytes / sentBytes).toFixed(1)})`,
      problems: perInvite > maxAnswersEach ? [`${answers} answers to ${messages} INVITEs`] : [],
    }
  },
}
