import { Worker } from 'node:worker_threads'
import { simulateDispatch, type SimulatedWork } from './simulate-dispatch.ts'

/** As many calls take less than 20 ms; more would be felt by everything else on the main thread. */
const maxCallsHere = 300
/** Forecasts that wait for the thread; further ones are refused. */
const maxWaiting = 20
/** 100,000 calls take half a second. */
const limitMs = 20_000
/** An idle thread returns its memory after a minute. */
const idleMs = 60_000

const entry = new URL('./simulate-worker.ts', import.meta.url)

let thread: Worker | undefined
let idling: NodeJS.Timeout | undefined
let waiting = 0
let last: Promise<unknown> = Promise.resolve()

/** `simulateDispatch`, in a thread of its own where it is long: one at a time. */
export const simulateInThread = async (work: SimulatedWork): Promise<Float64Array> => {
  if (work.calls.length <= maxCallsHere) return simulateDispatch(work)
  if (waiting >= maxWaiting) throw new Error('too many forecasts at one time')
  waiting += 1
  const mine = last.then(() => run(work))
  last = mine.catch(() => undefined)
  try {
    return await mine
  } finally {
    waiting -= 1
  }
}

const run = async (work: SimulatedWork): Promise<Float64Array> => {
  clearTimeout(idling)
  const worker = (thread ??= new Worker(entry, { name: 'forecast' }))
  worker.ref()
  const { promise, resolve, reject } = Promise.withResolvers<Float64Array>()
  const limit = setTimeout(() => reject(new Error('a forecast took too long')), limitMs)
  worker.once('message', resolve)
  worker.once('error', reject)
  worker.postMessage(work)
  try {
    const rings = await promise
    idling = setTimeout(forget, idleMs).unref()
    worker.unref()
    return rings
  } catch (error) {
    forget()
    throw error
  } finally {
    clearTimeout(limit)
    worker.removeListener('message', resolve)
    worker.removeListener('error', reject)
  }
}

const forget = (): void => {
  const gone = thread
  thread = undefined
  void gone?.terminate()
}
