import type { Attack } from '../stage/attack.ts'

/** Revenue-share ranges, satellite ranges, and emergency numbers. */
const numbers = [
  '+826012345678',
  '+559001234567',
  '+97190012345',
  '+972190012345',
  '+60600123456',
  '+20900123456',
  '+96090012345',
  '+32701234567',
  '+4911812345',
  // Premium codes of +1, and of islands that share it.
  '+19005551234',
  '+18099761234',
  '+12469712345',
  '+13459712345',
  '+17005551234',
  '+449098790000',
  '+33899123456',
  '+881612345678',
  '+870773111222',
  '+88213123456',
  '+97912345678',
  '+80812345678',
  '+911',
  '+1911',
] as const

/** An organization that may call every country still calls none of these. */
export const fraudNumbers: Attack = {
  name: 'fraud-numbers',
  goal: 'premium, satellite and emergency numbers are refused, whatever countries are enabled',
  async run({ tenant, agentId, trunk }) {
    const problems: string[] = []
    const before = trunk.calls.length
    for (const number of numbers) {
      const { status, body } = await tenant.call(agentId, number, `fraud ${number}`)
      if (status === 202) problems.push(`${number} was accepted`)
      if (status === 202) await tenant.request('POST', `/calls/${body.id}/cancel`, {})
      else if (status !== 400) problems.push(`${number} was answered ${status}`)
    }
    return {
      figure: `${numbers.length} numbers, ${trunk.calls.length - before} INVITEs`,
      problems,
    }
  },
}
