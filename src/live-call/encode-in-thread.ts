import { Worker } from 'node:worker_threads'
import { UnreadableSpoolError } from './encode-recording.ts'
import type { EncodeAnswer, EncodedAudio, EncodeTask } from './encode-worker-protocol.ts'

const entry = new URL('./encode-worker.ts', import.meta.url)

/** Encodes a spool in a thread of its own, away from signalling; ends the thread when the signal is aborted. */
export const encodeInThread = (
  spoolPath: string,
  mp3Path: string,
  signal: AbortSignal,
): Promise<EncodedAudio> => {
  const { promise, resolve, reject } = Promise.withResolvers<EncodedAudio>()
  const workerData: EncodeTask = { spoolPath, mp3Path }
  const worker = new Worker(entry, { name: 'encode', workerData })
  const onAbort = (): void => {
    reject(new Error('The encoding was interrupted.', { cause: signal.reason }))
    void worker.terminate()
  }
  worker.on('message', (answer: EncodeAnswer) => {
    if (answer.kind === 'encoded') resolve(answer.audio)
    else reject(new UnreadableSpoolError(answer.reason))
  })
  worker.on('error', reject)
  worker.on('exit', () => {
    signal.removeEventListener('abort', onAbort)
    reject(new Error('The encoder ended without an answer.'))
  })
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort)
  return promise
}
