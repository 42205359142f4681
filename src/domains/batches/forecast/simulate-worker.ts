import { parentPort } from 'node:worker_threads'
import { simulateDispatch, type SimulatedWork } from './simulate-dispatch.ts'

parentPort?.on('message', (work: SimulatedWork) => {
  const rings = simulateDispatch(work)
  parentPort?.postMessage(rings, [rings.buffer as ArrayBuffer])
})
