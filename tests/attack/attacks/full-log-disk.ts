import type { Attack } from '../stage/attack.ts'
import { openLiveCall } from '../stage/live-calls.ts'
import { openTenant } from '../stage/tenant.ts'
import { flowProblems } from '../stage/live-calls.ts'
import { startProber } from '../stage/prober.ts'
import { judgeProbes } from '../stage/judge-probes.ts'

const requests = 500

/** Every line the product logs meets a full disk. */
export const fullLogDisk: Attack = {
  name: 'full-log-disk',
  goal: 'a full log disk ends neither the product nor a call',
  isLong: true,
  isTimed: true,
  run: (stage, limits) => survivesLog(stage, limits, 'full'),
}

/** Whoever should read the log stands still: the pipe fills up. */
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
    // At the level debug each of these is logged: more than a pipe holds.
    for (let sent = 0; sent < requests; sent += 1)
      await fetch(`${product.apiUrl}/calls`, { signal: AbortSignal.timeout(limits.ringMs) }).then(
        (response) => response.arrayBuffer(),
        () => undefined,
      )
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
