import { setTimeout as delay } from 'node:timers/promises'
import type { Attack } from '../stage/attack.ts'

const numbers = ['+12125559901', '+12025550100', '+442079460000'] as const
const watchMs = 4_000

/** The key of the first start is for trials: with it no phone rings, even with a trunk. */
export const firstStartKey: Attack = {
  name: 'first-start-key',
  goal: 'no call of the printed key reaches the trunk',
  async run({ product, trunk }) {
    const first = product.started.first_start
    if (!first) return { figure: 'no key was printed', problems: [] }
    const before = trunk.calls.length
    let accepted = 0
    for (const [index, phone_number] of numbers.entries()) {
      const response = await fetch(`${product.apiUrl}/calls`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${first.api_key}`,
          'content-type': 'application/json',
          'idempotency-key': `first-start-${process.pid}-${index}-${Math.random()}`,
        },
        body: JSON.stringify({
          agent_id: first.agent_id,
          recipient: { external_id: phone_number, name: 'Nobody', phone_number },
        }),
      })
      if (response.status === 202) accepted += 1
      await response.arrayBuffer()
    }
    await delay(watchMs)
    const rung = trunk.calls.slice(before).map(({ number }) => number)
    return {
      figure: `${accepted} calls accepted, ${rung.length} INVITEs at the trunk`,
      problems: rung.map((number) => `the trunk was asked for ${number}`),
    }
  },
}
