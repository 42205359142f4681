// The caller of `signalling.ts` in a process of its own: `our-caller.ts PORT CALLS AT_A_TIME`. It prints its figures.
import { createMediaNegotiator } from '../../src/sdp/sdp.ts'
import { anySource } from '../../src/sip/gate/sources.ts'
import { createUserAgent } from '../../src/sip/user-agent/user-agent.ts'

const [port = 0, calls = 0, atATime = 1] = process.argv.slice(2).map(Number)
const agent = createUserAgent({ bindAddress: '127.0.0.1', sources: anySource })
await agent.start()
const signal = new AbortController().signal
let left = calls
let failed = 0

const place = async (): Promise<void> => {
  const result = await agent.invite(
    {
      target: `sip:+12025550100@127.0.0.1:${port}`,
      from: 'sip:+12025550199@127.0.0.1',
      offer: createMediaNegotiator({ local: { address: '127.0.0.1', port: 40_000 } }).offer(),
      ringTimeoutMs: 30_000,
    },
    signal,
  )
  if (result.kind === 'answered') await result.dialog.bye()
  else failed += 1
}

const started = { atMs: performance.now(), cpu: process.cpuUsage() }
await Promise.all(
  Array.from({ length: atATime }, async () => {
    while (left > 0) {
      left -= 1
      await place()
    }
  }),
)
const { user, system } = process.cpuUsage(started.cpu)
const seconds = (performance.now() - started.atMs) / 1000
console.log(JSON.stringify({ seconds, cpuSeconds: (user + system) / 1e6, failed }))
process.exit(0)
