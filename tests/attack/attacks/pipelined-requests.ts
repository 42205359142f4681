import { setTimeout as delay } from 'node:timers/promises'
import { strangerAddress } from '../stage/addresses.ts'
import type { Attack } from '../stage/attack.ts'
import { openConnection } from '../stage/http-connection.ts'
import { judgeProbes, untilCalm } from '../stage/judge-probes.ts'

const requests = 1_000
const watchMs = 3_000
/** The largest file. */
const request = 'GET /docs/scalar.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'

/** One connection requests the largest file a thousand times and reads nothing. */
export const pipelinedRequests: Attack = {
  name: 'pipelined-requests',
  goal: 'memory grows by 150 MB at most, /healthz answers within 200 ms',
  isTimed: true,
  async run({ product, prober }, limits) {
    await prober.reset()
    const socket = await openConnection(product.home.apiPort, strangerAddress(60))
    socket?.pause()
    socket?.write(request.repeat(requests))
    await delay(watchMs)
    await untilCalm(prober)
    const judged = judgeProbes(await prober.read(), limits)
    socket?.destroy()
    return judged
  },
}
