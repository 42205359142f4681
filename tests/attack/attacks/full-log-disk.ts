import { setTimeout as delay } from 'node:timers/promises'
import type { Attack } from '../stage/attack.ts'
import { openTenant } from '../stage/tenant.ts'
import { flowProblems, openLiveCall } from '../stage/live-calls.ts'
import { startProber } from '../stage/prober.ts'
import { judgeProbes } from '../stage/judge-probes.ts'

const garbage = 5_000
const burst = 50
const garbagePerMs = 2

/** Every logged line meets a full disk. */
export const fullLogDisk: Attack = {
  name: 'full-log-disk',
  goal: 'a full log disk ends neither the product nor a call',
  isLong: true,
  isTimed: true,
  run: (stage, limits) => survivesLog(stage, limits, 'full'),
}

/** The reader of the log is blocked: the pipe fills up. */
export const standingLogReader: Attack = {
  name: 'standing-log-reader',
  goal: 'a log that nobody reads stalls nothing: /healthz within 200 ms, calls go on',
  isLong: true,
  isTimed: true,
  run: (stage, limits) => survivesLog(stage, limits, 'unread'),
}

const survivesLog = async (
  stage: Parameters<Attack['run']>[0],
  limits: Parameters<Attack['run']>[1],
  log: 'full' | 'unread',
): ReturnType<Attack['run']> => {
  const { trunk, engine } = stage
  const product = await stage.startAnother({ settings: stage.settings, log })
  const prober = await startProber({ port: product.home.apiPort, pid: product.pid })
  const problems: string[] = []
  try {
    const tenant = await openTenant(product, 'Logged')
    const { id: agentId = '' } = await tenant.publishAgent()
    const call = await openLiveCall({ trunk, engine, tenant, agentId }, stage.newNumber())
    await prober.reset()
    // At level debug each of these is a line: more than a pipe holds.
    for (let sent = 0; sent < garbage; sent += 1) {
      await trunk.peer.send(`INVITE garbage ${sent}\r\n\r\n`, product.home.sipPort, '127.0.0.1')
      if (sent % burst === 0) await delay(burst / garbagePerMs)
    }
    if (!product.isAlive) problems.push('the product ended')
    else problems.push(...(await flowProblems(call)))
    await call.leg.request('BYE', { timeoutMs: limits.ringMs })
    const judged = judgeProbes(await prober.read(), limits)
    return { ...judged, problems: [...problems, ...judged.problems] }
  } finally {
    await prober.stop()
    await product.stop()
  }
}
