import { setTimeout as delay } from 'node:timers/promises'
import { strangerAddress } from '../stage/addresses.ts'
import type { Attack } from '../stage/attack.ts'
import { openConnection } from '../stage/http-connection.ts'
import { judgeProbes, untilCalm } from '../stage/judge-probes.ts'

const readers = 300
const addresses = 30
const watchMs = 3_000
const request = 'GET /docs/scalar.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'

/** Three hundred clients from thirty addresses request the largest file and read nothing. */
export const slowReaders: Attack = {
  name: 'slow-readers',
  goal: 'memory grows by 150 MB at most, /healthz answers within 200 ms',
  isTimed: true,
  async run({ product, prober }, limits) {
    await prober.reset()
    const sockets = await Promise.all(
      Array.from({ length: readers }, (_, index) =>
        openConnection(product.home.apiPort, strangerAddress(100 + (index % addresses))),
      ),
    )
    for (const socket of sockets) {
      socket?.pause()
      socket?.write(request)
    }
    await delay(watchMs)
    await untilCalm(prober)
    const judged = judgeProbes(await prober.read(), limits)
    for (const socket of sockets) socket?.destroy()
    return judged
  },
}
