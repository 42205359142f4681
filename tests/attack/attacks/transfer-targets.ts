import { setTimeout as delay } from 'node:timers/promises'
import type { Attack } from '../stage/attack.ts'
import { openLiveCall, type LiveCall } from '../stage/live-calls.ts'
import { openTenant } from '../stage/tenant.ts'
import { headerOf } from '../stage/sip-text.ts'

/** An allowed target: it proves that a REFER would be seen. */
const goodTarget = '+12125550123'

/** Each is a forbidden number, or would put more than a target into Refer-To. */
const targets = [
  'sip:911@trunk.example',
  'sip:911;phone-context=+1@trunk.example',
  'sip:%39%31%31@trunk.example',
  'sip:%2b19005551234@trunk.example',
  'sip:+1-900-555-1234@trunk.example',
  'sip:+1(900)5551234@trunk.example',
  'sip:19005551234@trunk.example',
  'sip:01119005551234@trunk.example',
  'sip:0011449098790000@trunk.example',
  'sips:+449098790000@trunk.example;user=phone',
  'SIP:+19005551234:secret@trunk.example',
  'sip:+1.900.555.1234@trunk.example',
  'tel:911',
  '+449098790000',
  'sip:100@trunk.example?Replaces=x',
  'sip:100@trunk.example>;method=INVITE<sip:911@trunk.example',
  'sip:100@trunk.example,sip:911@trunk.example',
  'sip:112@trunk.example',
] as const

const announcementMs = 1_500

/** An agent that may transfer to colleagues in the United States transfers to no other target. */
export const transferTargets: Attack = {
  name: 'transfer-targets',
  goal: 'a forbidden number is refused as target of a transfer in every spelling',
  isLong: true,
  async run(stage) {
    const { trunk, engine, product } = stage
    const tenant = await openTenant(product, 'Transferring', ['US'])
    const problems: string[] = []
    let refused = 0
    for (const target of [goodTarget, ...targets]) {
      const tool = { builtin: 'transfer_call', to: target }
      const { id } = await tenant.publishAgent({ tools: [tool] })
      if (id === undefined) {
        refused += 1
        if (target === goodTarget) problems.push('an allowed target was refused')
        continue
      }
      const parts = { trunk, engine, tenant, agentId: id }
      const call = await openLiveCall(parts, stage.newNumber())
      const referred = await transferredTo(call)
      if (target === goodTarget && referred === undefined)
        problems.push('an allowed transfer sent no REFER')
      if (target !== goodTarget && referred !== undefined)
        problems.push(`${target} was asked for: Refer-To: ${referred}`)
      if (target !== goodTarget && referred === undefined) refused += 1
      await call.leg.request('BYE')
    }
    return { figure: `${refused} of ${targets.length} spellings refused`, problems }
  },
}

/** The product's Refer-To, once the agent wanted the transfer. */
const transferredTo = async ({ leg, session }: LiveCall): Promise<string | undefined> => {
  const settled = session.callTool('transfer_call', {})
  await Promise.race([settled, delay(announcementMs * 10)])
  const refer = leg.requests.find(({ method }) => method === 'REFER')
  return refer && headerOf(refer, 'refer-to')
}
