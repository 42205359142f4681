import { setTimeout as delay } from 'node:timers/promises'
import { strangerAddress, trunkAddress } from '../stage/addresses.ts'
import type { Attack } from '../stage/attack.ts'
import { flowProblems, readSpool, type LiveCall } from '../stage/live-calls.ts'
import { rtcpBye, rtpPacket, strangerFrame, telephoneEvent } from '../stage/marked-audio.ts'
import { openUdpPeer, type UdpPeer } from '../stage/udp-peer.ts'

const packets = 150
const frameMs = 20
const eventType = 101

/** Audio, keys and RTCP BYEs from other addresses, and from other ports of the trunk. */
export const rtpInjection: Attack = {
  name: 'rtp-injection',
  goal: 'no packet of a stranger reaches agent, recording or keypad; the agent’s audio stays',
  async run(stage) {
    const call = await stage.openCall()
    const peers = [
      await openUdpPeer(strangerAddress(40)),
      await openUdpPeer(strangerAddress(41)),
      await openUdpPeer(trunkAddress),
    ]
    await Promise.all(
      [call, ...stage.live].flatMap((victim) => peers.map((peer) => inject(peer, victim))),
    )
    const keysBefore = call.session.told.length
    await call.leg.audio?.press(5)
    const problems = await flowProblems(call)
    // The product accepts the genuine key, so its silence about the strangers' keys is meaningful.
    for (let wait = 0; wait < 100 && call.session.told.length === keysBefore; wait += 1)
      await delay(50)
    const told = [call, ...stage.live].flatMap(({ session }) => session.told).join(' ')
    if (!told.includes('5')) problems.push('the genuine key was not heard')
    if (told.includes('9')) problems.push('a stranger’s key was pressed')
    const spool = readSpool(stage.product.home.data, call.id)
    if (spool === undefined) problems.push('the call has no recording to look at')
    else if (spool.stranger > 0)
      problems.push(`${spool.stranger} bytes of a stranger are in the recording`)
    const bytes = peers.reduce((sum, peer) => sum + peer.receivedBytes, 0)
    if (bytes > 0) problems.push(`${bytes} bytes went to strangers`)
    for (const peer of peers) peer.close()
    await call.leg.request('BYE')
    return {
      figure: `${packets * peers.length} packets a call, ${call.session.heard.stranger} bytes heard`,
      problems,
      figures: { strangerBytes: bytes },
    }
  },
}

const inject = async (peer: UdpPeer, { leg }: LiveCall): Promise<void> => {
  const { audio } = leg
  if (!audio) return
  const { address, port } = audio.remote
  for (let index = 0; index < packets; index += 1) {
    // A continuation of the callee's own stream, and a separate stream of the stranger.
    const own = rtpPacket(0, index, index * 160, 0xbad, strangerFrame)
    const { sequence, timestamp, ssrc } = audio
    const copied = rtpPacket(0, sequence + 1, timestamp + 160, ssrc, strangerFrame)
    const key = rtpPacket(
      eventType,
      sequence + 2,
      timestamp,
      ssrc,
      telephoneEvent(9, index % 3 === 2, 800),
    )
    for (const packet of [own, copied, key]) await peer.send(packet, port, address)
    await peer.send(rtcpBye(ssrc), port, address)
    await peer.send(rtcpBye(ssrc), port + 1, address)
    await delay(frameMs)
  }
}
