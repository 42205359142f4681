import type { Attack, Limits } from '../stage/attack.ts'
import { hostileBodies, hostileShapes, type HostileShape } from '../stage/hostile-shapes.ts'
import { createCostMeter } from '../stage/message-cost.ts'
import type { Stage } from '../stage/stage.ts'

/** The largest value that a datagram holds beside its headers. */
const size = 60_000
/** Enough for certainty; each may stall the product for seconds. */
const enoughBroken = 2

/** One datagram of 60 kB, from the trunk itself: whatever its structure, it is read at once. */
export const sipMessageCost: Attack = {
  name: 'sip-message-cost',
  goal: 'no datagram costs more than 20 ms',
  isTimed: true,
  async run(stage, limits) {
    const { peer } = stage.trunk
    const shapes = hostileShapes({ address: peer.address, port: peer.port })
    const outside = await costOf(stage, limits, shapes)
    const inside = await costOf(stage, limits, await bodiesInDialog(stage))
    const worst = outside.worstMs > inside.worstMs ? outside : inside
    return {
      figure: `${shapes.length + hostileBodies.length} shapes, slowest ${worst.worstMs.toFixed(1)} ms`,
      problems: [...outside.problems, ...inside.problems],
      figures: { messageMs: worst.worstMs },
    }
  },
}

/** Bodies that only an active dialog may send. */
const bodiesInDialog = async (stage: Stage): Promise<HostileShape[]> => {
  const { leg } = await stage.openCall()
  const { peer } = stage.trunk
  let sequence = 100
  return hostileBodies.map(({ name, method, type, write }) => ({
    name,
    write: (length) => {
      const body = write(length)
      sequence += 1
      const via = `SIP/2.0/UDP ${peer.address}:${peer.port};branch=z9hG4bKbody${sequence}`
      return leg
        .compose(method, sequence, via)
        .replace(
          'Content-Length: 0\r\n\r\n',
          () =>
            `Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
        )
    },
  }))
}

const costOf = async (
  { product, trunk }: Stage,
  limits: Limits,
  shapes: readonly HostileShape[],
): Promise<{ worstMs: number; problems: string[] }> => {
  const meter = await createCostMeter(product)
  const problems: string[] = []
  const goodEnoughMs = limits.messageMs
  let worstMs = 0
  for (const { name, write } of shapes) {
    const send = (): Promise<void> =>
      trunk.peer.send(write(size).slice(0, 65_000), product.home.sipPort, '127.0.0.1')
    const costMs = await meter.costMs(send, { goodEnoughMs })
    worstMs = Math.max(worstMs, costMs)
    if (costMs > limits.messageMs) problems.push(`${name} costs ${costMs.toFixed(0)} ms`)
    if (problems.length >= enoughBroken) break
  }
  meter.close()
  return { worstMs, problems }
}
