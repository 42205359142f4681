import type { Attack } from '../stage/attack.ts'
import { openTenant } from '../stage/tenant.ts'

const ringLimitMs = 8_000

/** Two nodes of one channel each hold two calls: the second adds its own channel. */
export const secondNode: Attack = {
  name: 'second-node',
  goal: 'OUTDIAL_MAX_CHANNELS is each node’s own: two nodes of one channel hold two calls',
  isLong: true,
  async run(stage) {
    const { trunk } = stage
    const settings = { ...stage.settings, OUTDIAL_MAX_CHANNELS: '1' }
    const first = await stage.startAnother({ settings })
    const second = await stage.startAnother({
      settings: { ...settings, OUTDIAL_DATA: first.home.data },
      besides: first,
    })
    try {
      const tenant = await openTenant(first, 'Two nodes')
      const { id: agentId = '' } = await tenant.publishAgent()
      const numbers = [stage.newNumber(), stage.newNumber(), stage.newNumber()]
      for (const number of numbers) await tenant.call(agentId, number, `node ${number}`)
      const rung = await Promise.all(
        numbers.map((number) =>
          trunk.callTo(number, ringLimitMs).then(
            (call) => call,
            () => undefined,
          ),
        ),
      )
      const live = rung.filter((call) => call !== undefined)
      for (const call of live) await call.request('BYE')
      return {
        figure: `${live.length} of ${numbers.length} calls rang`,
        problems: live.length === 2 ? [] : [`${live.length} calls at once on two channels`],
      }
    } finally {
      await second.stop()
      await first.stop()
    }
  },
}
