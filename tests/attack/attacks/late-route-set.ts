import { setTimeout as delay } from 'node:timers/promises'
import { trunkAddress } from '../stage/addresses.ts'
import type { Attack } from '../stage/attack.ts'
import { composeResponse, parseSip } from '../stage/sip-text.ts'
import { openUdpPeer } from '../stage/udp-peer.ts'

const waitMs = 3_000

/** A proxy that appears only in the 2xx is on the path of everything that follows (RFC 3261 13.2.2.4). */
export const lateRouteSet: Attack = {
  name: 'late-route-set',
  goal: 'the route set is that of the 2xx, not of an earlier 180',
  async run({ trunk, tenant, agentId, newNumber, engine }) {
    const proxy = await openUdpPeer(trunkAddress)
    const seen: string[] = []
    proxy.onMessage((data, from) => {
      const message = parseSip(data.toString('latin1'))
      if (message?.method === undefined) return
      seen.push(message.method)
      if (message.method === 'ACK') return
      void proxy.send(composeResponse(message, '200 OK', {}), from.port, from.address)
    })
    const number = newNumber()
    const line = `route ${number}`
    trunk.plan(number, async (call) => {
      const headers = [['Contact', `<sip:${trunk.address}:${trunk.port}>`]] as const
      await call.respond('180 Ringing', { headers })
      await delay(100)
      const recordRoute = ['Record-Route', `<sip:${proxy.address}:${proxy.port};lr>`] as const
      await call.answer({ headers: [recordRoute] })
    })
    const { body } = await tenant.call(agentId, number, line)
    const leg = await trunk.callTo(number)
    await engine.sessionOf(line)
    for (let waited = 0; waited < waitMs && !seen.includes('ACK'); waited += 50) await delay(50)
    await tenant.request('POST', `/calls/${body.id}/cancel`, {})
    for (let waited = 0; waited < waitMs && !seen.includes('BYE'); waited += 50) await delay(50)
    leg.close()
    proxy.close()
    const missing = ['ACK', 'BYE'].filter((method) => !seen.includes(method))
    return {
      figure: `the proxy saw ${seen.join(', ') || 'nothing'}`,
      problems: missing.map((method) => `the ${method} passed the proxy by`),
    }
  },
}
