import { setTimeout as delay } from 'node:timers/promises'
import { strangerAddress } from '../stage/addresses.ts'
import type { Attack } from '../stage/attack.ts'
import { openConnection } from '../stage/http-connection.ts'
import { createCostMeter } from '../stage/message-cost.ts'

const size = 60_000
const spaces = ' '.repeat(size)
/** A head short enough to be read to its end. */
const room = 15_000

/** Heads that Node's parser refuses, so that our own reads them. */
const heads: Readonly<Record<string, string>> = {
  'spaces in a header': `GET / HTTP/1.1\r\nHost: a\r\nX: a${spaces}b\r\n\x01: b\r\n\r\n`,
  'spaces in a short head': `GET / HTTP/1.1\r\nHost: a\r\nX: a${' '.repeat(room)}b\r\n\x01: b\r\n\r\n`,
  'spaces and an unknown method': `FOO / HTTP/1.1\r\nHost: a\r\nX: a${' '.repeat(room)}b\r\n\r\n`,
  'tabs and an unknown method': `FOO / HTTP/1.1\r\nHost: a\r\nX:${'\t'.repeat(room)}b\r\n\r\n`,
  'spaces and tabs': `GET / HTTP/1.1\r\nHost: a\r\nX:${' \t'.repeat(size / 2)}b\x00\r\n\r\n`,
  'spaces in the request line': `GET ${spaces}/ HTTP/1.1\r\nHost: a\r\n\r\n`,
  'spaces after the path': `GET /${spaces}HTTP/1.1\r\nHost: a\r\n\r\n`,
  'a long method': `${'A'.repeat(size)} / HTTP/1.1\r\n\r\n`,
  'many headers': `GET / HTTP/1.1\r\n${'a: b\r\n'.repeat(size / 6)}\x01: b\r\n\r\n`,
  'one letter headers': `GET / HTTP/1.1\r\n${'a:\r\n'.repeat(size / 4)}\r\n`,
  'folded lines': `GET / HTTP/1.1\r\nX: a\r\n${' \r\n'.repeat(size / 3)}\r\n`,
  'no line end': `GET /${'a'.repeat(size)}`,
  'line ends': '\r\n'.repeat(size / 2),
  'query of ampersands': `GET /calls?${'&'.repeat(8_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  'query of percents': `GET /calls?a=${'%2'.repeat(4_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  'many authorizations': `GET /calls HTTP/1.1\r\nHost: a\r\n${'Authorization: Bearer  x\r\n'.repeat(500)}\r\n`,
  'spaces after Bearer': `GET /calls HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer${' '.repeat(14_000)}x\r\n\r\n`,
}

/** A request head of any structure is refused at once. */
export const httpHeadCost: Attack = {
  name: 'http-head-cost',
  goal: 'no request head costs more than 20 ms',
  isTimed: true,
  async run({ product }, limits) {
    const meter = await createCostMeter(product)
    const problems: string[] = []
    let worstMs = 0
    let address = 0
    for (const [name, head] of Object.entries(heads)) {
      const costMs = await meter.costMs(
        async () => {
          address = (address + 1) % 50
          const socket = await openConnection(product.home.apiPort, strangerAddress(200 + address))
          socket?.write(head, 'latin1')
          await delay(1)
          socket?.destroy()
        },
        { goodEnoughMs: limits.messageMs },
      )
      worstMs = Math.max(worstMs, costMs)
      if (costMs > limits.messageMs) problems.push(`${name} cost ${costMs.toFixed(0)} ms`)
    }
    meter.close()
    return {
      figure: `${Object.keys(heads).length} heads, slowest ${worstMs.toFixed(1)} ms`,
      problems,
      figures: { messageMs: worstMs },
    }
  },
}
