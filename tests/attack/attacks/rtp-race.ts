import { setTimeout as delay } from 'node:timers/promises'
import { strangerAddress } from '../stage/addresses.ts'
import type { Attack } from '../stage/attack.ts'
import { flowProblems } from '../stage/live-calls.ts'
import { rtpPacket, strangerFrame } from '../stage/marked-audio.ts'
import { openUdpPeer } from '../stage/udp-peer.ts'

const packets = 60
const frameMs = 20

/** A stranger who sends before the callee's first packet does not get the call. */
export const rtpRace: Attack = {
  name: 'rtp-race',
  goal: 'strangers who send before the callee does get no audio and are not heard',
  async run(stage) {
    const { trunk, engine, tenant, agentId } = stage
    const number = stage.newNumber()
    trunk.plan(number, (call) => call.answer({ isMute: true }))
    const line = `race ${number}`
    const { body } = await tenant.call(agentId, number, line)
    const leg = await trunk.callTo(number)
    const session = await engine.sessionOf(line)
    const peers = [await openUdpPeer(strangerAddress(50)), await openUdpPeer(strangerAddress(51))]
    while (!leg.audio) await delay(frameMs)
    const { address, port } = leg.audio.remote
    for (let index = 0; index < packets; index += 1) {
      for (const peer of peers)
        await peer.send(rtpPacket(0, index, index * 160, peer.port, strangerFrame), port, address)
      await delay(frameMs)
    }
    leg.audio.start()
    const problems = await flowProblems({ id: body.id ?? '', leg, session })
    const bytes = peers.reduce((sum, peer) => sum + peer.receivedBytes, 0)
    if (bytes > 0) problems.push(`${bytes} bytes of the agent’s audio went to strangers`)
    for (const peer of peers) peer.close()
    await leg.request('BYE')
    return {
      figure: `${session.heard.stranger} bytes heard, ${bytes} bytes sent to strangers`,
      problems,
      figures: { strangerBytes: bytes },
    }
  },
}
