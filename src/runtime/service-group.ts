import type { Logger } from './logger.ts'
import type { Service } from './service.ts'
import { within } from './within.ts'

/** Limits on one start and one stop, so that no service hangs the process. */
const startLimitMs = 60_000
const stopLimitMs = 30_000

/** Services that were started together and stop in the opposite order. */
export interface ServiceGroup {
  /** Starts these side by side. Rejects if one fails, or takes more than 60 s; the caller then calls `stop`. */
  run(...services: readonly Service[]): Promise<void>
  /** Adds a service that is already running. */
  add(running: Pick<Service, 'stop'>): void
  /** Never rejects: a service that does not stop within 30 s is logged and skipped. */
  stop(): Promise<void>
}

export const createServiceGroup = (logger: Logger): ServiceGroup => {
  const started: Pick<Service, 'stop'>[] = []
  return {
    run: async (...services) => {
      started.push(...services)
      const starting = startTogether(services)
      await within(startLimitMs, 'A part of the program did not start in time.', starting)
    },
    add: (running) => void started.push(running),
    stop: async () => {
      for (const service of started.toReversed())
        await within(stopLimitMs, 'It took too long to stop.', service.stop()).catch(
          (error: unknown) => logger.warn({ err: error }, 'a part did not stop'),
        )
    },
  }
}

/** Waits for every start even if one fails: a stop during a start would leave that service running. */
const startTogether = async (services: readonly Service[]): Promise<void> => {
  const results = await Promise.allSettled(services.map((service) => service.start()))
  const failed = results.find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}
