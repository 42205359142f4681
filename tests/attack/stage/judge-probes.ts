import type { Limits, Result } from './attack.ts'
import { setTimeout as delay } from 'node:timers/promises'
import type { Probes, Prober } from './prober.ts'

/** Memory and /healthz during an attack. */
export const judgeProbes = (
  { slowestMs, answers, failures, grownMb }: Probes,
  limits: Limits,
): Result => ({
  figure: `+${grownMb.toFixed(0)} MB, /healthz ${slowestMs.toFixed(0)} ms`,
  problems: [
    ...(grownMb > limits.memoryMb ? [`memory grew by ${grownMb.toFixed(0)} MB`] : []),
    ...(slowestMs > limits.healthzMs ? [`/healthz took ${slowestMs.toFixed(0)} ms`] : []),
    ...(failures > 0 ? [`/healthz failed ${failures} of ${answers + failures} times`] : []),
  ],
  figures: { memoryMb: grownMb, healthzMs: slowestMs },
})

const calmMs = 1_000
const calmAnswers = 5
const patienceMs = 60_000

/** Waits until /healthz is as fast as before, so that the attack's work is over, or until the time limit. */
export const untilCalm = async (prober: Prober): Promise<void> => {
  const deadline = performance.now() + patienceMs
  for (let before = 0; performance.now() < deadline;) {
    await delay(calmMs)
    const { answers } = await prober.read()
    if (answers - before >= calmAnswers) return
    before = answers
  }
}
