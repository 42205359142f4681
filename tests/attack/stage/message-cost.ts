import { existsSync, readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Product } from './product.ts'

/** No machine is delayed this long by other work. */
const beyondDoubtMs = 1_500
/** A cost far below its limit need not be measured again. */
const clearlyGood = 1 / 4
const restTries = 10

export interface CostMeter {
  costMs(send: () => Promise<void>, limits: CostLimits): Promise<number>
  close(): void
}

interface CostLimits {
  readonly goodEnoughMs: number
  readonly tries?: number
}

/**
 * How long the product was busy with a message: the time its main thread ran until it answered /healthz, minus the
 * time for /healthz alone. It is the thread's own time, so that other work on the machine does not count; a system
 * without that figure gives elapsed time.
 */
export const createCostMeter = async ({ home, pid }: Product): Promise<CostMeter> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = (): Promise<void> =>
    new Promise((resolve, reject) => {
      get({ host: '127.0.0.1', port: home.apiPort, path: '/healthz', agent }, (response) => {
        response.resume()
        response.on('end', resolve)
        response.on('error', reject)
      }).on('error', reject)
    })
  const nowMs = clockOfMainThread(pid)
  // The first response may overtake the message, the second cannot.
  const time = async (send: () => Promise<void>): Promise<number> => {
    const startedMs = nowMs()
    await send()
    await ask()
    await ask()
    return nowMs() - startedMs
  }
  /** The smallest of some tries: other work makes some slow, a costly message all. */
  const least = async (send: () => Promise<void>, enoughMs: number, tries: number) => {
    let best = Infinity
    for (let round = 0; round < tries && best > enoughMs; round += 1) {
      best = Math.min(best, await time(send))
      if (best > beyondDoubtMs) break
    }
    return best
  }
  const restMs = await least(() => delay(1), 0, restTries)
  return {
    async costMs(send, { goodEnoughMs, tries = 8 }) {
      const enoughMs = restMs + goodEnoughMs * clearlyGood
      return Math.max(0, (await least(send, enoughMs, tries)) - restMs)
    },
    close: () => agent.destroy(),
  }
}

const nanosecondsPerMs = 1_000_000

/** Running time of a process's main thread, on Linux; else elapsed time. */
const clockOfMainThread = (pid: number): (() => number) => {
  const file = `/proc/${pid}/task/${pid}/schedstat`
  if (!existsSync(file)) return () => performance.now()
  return () => Number(readFileSync(file, 'utf8').split(' ')[0]) / nanosecondsPerMs
}
