import type { Logger } from './logger.ts'
import type { Service } from './service.ts'
import { within } from './within.ts'

/** No part may hang in silence: a start that takes longer is given up, and a part that does not stop is left. */
const startLimitMs = 60_000
const stopLimitMs = 30_000

/** What was started, so that it can be stopped again: the last one first. */
export interface ServiceGroup {
  /** Starts these side by side. Rejects when one cannot, or takes more than a minute; `stop` then ends the others. */
  run(...services: readonly Service[]): Promise<void>
  /** Something that runs already. */
  add(running: Pick<Service, 'stop'>): void
  /** Never rejects: what does not stop within 30 s is logged and left. */
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

/** All have come to an end when one has failed: stopping what is still about to start would leave it running. */
const startTogether = async (services: readonly Service[]): Promise<void> => {
  const results = await Promise.allSettled(services.map((service) => service.start()))
  const failed = results.find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}
