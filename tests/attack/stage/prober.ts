import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Observations of the product. */
export interface Probes {
  /** The slowest response of /healthz; infinite if one is missing. */
  readonly slowestMs: number
  readonly answers: number
  readonly failures: number
  /** Resident memory above the initial value. */
  readonly grownMb: number
}

/** Requests /healthz continuously and samples the product's memory, from a thread that no attack keeps busy. */
export interface Prober {
  /** Resets the observations. */
  reset(): Promise<void>
  read(): Promise<Probes>
  stop(): Promise<void>
}

export interface ProberSettings {
  readonly port: number
  readonly pid: number
}

export const startProber = async (settings: ProberSettings): Promise<Prober> => {
  const worker = new Worker(new URL('./prober-worker.ts', import.meta.url), {
    workerData: settings,
  })
  await once(worker, 'message')
  const ask = async (question: 'reset' | 'read'): Promise<Probes> => {
    worker.postMessage(question)
    const [probes] = (await once(worker, 'message')) as [Probes]
    return probes
  }
  return {
    reset: async () => void (await ask('reset')),
    read: () => ask('read'),
    stop: async () => void (await worker.terminate()),
  }
}
