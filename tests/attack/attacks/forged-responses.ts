import { setTimeout as delay } from 'node:timers/promises'
import { strangerAddress, trunkAddress } from '../stage/addresses.ts'
import type { Attack } from '../stage/attack.ts'
import { flowProblems } from '../stage/live-calls.ts'
import { composeResponse, headerOf } from '../stage/sip-text.ts'
import type { TrunkCall } from '../stage/trunk-call.ts'
import { openUdpPeer, type UdpPeer } from '../stage/udp-peer.ts'

const holdMs = 1_500

/** Responses to an INVITE in flight from another address must not count. */
export const forgedResponses: Attack = {
  name: 'forged-responses',
  goal: 'a stranger’s 407, 302 and 200 draw no credentials, no ACK and no audio',
  async run(stage) {
    const { trunk, engine, tenant, agentId, product } = stage
    // Another address, and the trunk's address with another port.
    const strangers = [await openUdpPeer(strangerAddress(30)), await openUdpPeer(trunkAddress)]
    const [stranger] = strangers as [UdpPeer, UdpPeer]
    const number = stage.newNumber()
    const problems: string[] = []
    let forged: TrunkCall | undefined
    trunk.plan(number, async (call, count) => {
      forged = call
      if (count > 1) return void problems.push('the stranger’s challenge was answered')
      await call.respond('100 Trying')
      for (const peer of [stranger])
        for (const text of forgedAnswers(call, peer))
          await peer.send(text, product.home.sipPort, '127.0.0.1')
      await delay(holdMs)
      if (call.requests.length > 0) problems.push(`the product sent ${call.requests[0]?.start}`)
      await call.answer()
    })
    const line = `forged ${number}`
    const { body } = await tenant.call(agentId, number, line)
    const leg = await trunk.callTo(number)
    await Promise.race([delay(holdMs + 4_000), leg.over])
    const credentials = forged?.invites.some((invite) => headerOf(invite, 'proxy-authorization'))
    if (credentials) problems.push('credentials left')
    const bytes = strangers.reduce((sum, peer) => sum + peer.receivedBytes, 0)
    if (bytes > 0) problems.push(`${bytes} bytes went to the stranger`)
    if (problems.length === 0) {
      const session = await engine.sessionOf(line)
      problems.push(...(await flowProblems({ id: body.id ?? '', leg, session })))
    }
    for (const peer of strangers) peer.close()
    return {
      figure: `${bytes} bytes to strangers`,
      problems,
      figures: { strangerBytes: bytes },
    }
  },
}

const forgedAnswers = (call: TrunkCall, peer: UdpPeer): string[] => {
  const [invite] = call.invites
  if (!invite) return []
  const contact = ['Contact', `<sip:${peer.address}:${peer.port}>`] as const
  const challenge = 'Digest realm="stranger", nonce="n", algorithm=MD5'
  const sdp = [
    'v=0',
    `o=- 1 1 IN IP4 ${peer.address}`,
    's=-',
    `c=IN IP4 ${peer.address}`,
    't=0 0',
    `m=audio ${peer.port} RTP/AVP 0`,
    '',
  ].join('\r\n')
  return [
    composeResponse(invite, '407 Proxy Authentication Required', {
      toTag: 'stranger',
      headers: [['Proxy-Authenticate', challenge]],
    }),
    composeResponse(invite, '302 Moved Temporarily', { toTag: 'stranger', headers: [contact] }),
    composeResponse(invite, '200 OK', {
      toTag: 'stranger',
      headers: [contact, ['Content-Type', 'application/sdp']],
      body: sdp,
    }),
  ]
}
