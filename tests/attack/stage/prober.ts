import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** What the product was like while it was watched. */
export interface Probes {
  /** The slowest answer of /healthz; endless where one did not come. */
  readonly slowestMs: number
  readonly answers: number
  readonly failures: number
  /** Resident memory above what it was at the beginning. */
  readonly grownMb: number
}

/** Asks /healthz all the time and looks at the product's memory, from a thread that no attack keeps busy. */
export interface Prober {
  /** Begins anew. */
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
