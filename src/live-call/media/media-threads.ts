import { availableParallelism } from 'node:os'

/** The threads of one node: one per processor, except one that is left to signalling, dispatch and HTTP. */
export const mediaThreads = (
  maxChannels: number,
): { readonly workers: number; readonly channelsPerWorker: number } => {
  const workers = Math.max(1, availableParallelism() - 1)
  return { workers, channelsPerWorker: Math.ceil(maxChannels / workers) }
}
