import { Worker } from 'node:worker_threads'
import { UnreadableSpoolError } from './encode-recording.ts'
import type { EncodeAnswer, EncodedAudio, EncodeTask } from './encode-worker-protocol.ts'

/**
 * Encodes a spool outside the signalling thread; ends the encoding when the signal is aborted. Throws
 * `UnreadableSpoolError` for a spool that can never be encoded, and the system's error for one that may be encoded
 * later.
 */
type EncodeInThread = (
  spoolPath: string,
  mp3Path: string,
  signal: AbortSignal,
) => Promise<EncodedAudio>

const entry = new URL('./encode-worker.ts', import.meta.url)
/** An idle thread returns its memory after five minutes. */
const idleLimitMs = 300_000

/**
 * One thread for each spool being encoded, reused for later ones: starting it and compiling the encoder takes a
 * quarter of the time for five minutes of audio. Idle threads keep no process alive.
 */
export const createThreadEncoder = (): EncodeInThread => {
  const idle: EncodeThread[] = []

  const forget = (thread: EncodeThread): void => {
    const at = idle.indexOf(thread)
    if (at >= 0) idle.splice(at, 1)
  }

  return async (spoolPath, mp3Path, signal) => {
    if (signal.aborted) throw interrupted(signal)
    const thread = idle.pop() ?? startEncodeThread(forget)
    const answer = await thread.encode({ spoolPath, mp3Path }, signal)
    idle.push(thread)
    if (answer.kind === 'unreadable') throw new UnreadableSpoolError(answer.reason)
    return answer.audio
  }
}

interface EncodeThread {
  /** One at a time. A rejection ends the thread. */
  encode(task: EncodeTask, signal: AbortSignal): Promise<EncodeAnswer>
}

/** `onGone` is called when the thread has ended, also while idle. */
const startEncodeThread = (onGone: (thread: EncodeThread) => void): EncodeThread => {
  const worker = new Worker(entry, { name: 'encode' })
  let current: PromiseWithResolvers<EncodeAnswer> | undefined
  let idling: NodeJS.Timeout | undefined

  const retire = (): void => {
    onGone(thread)
    void worker.terminate()
  }
  const thread: EncodeThread = {
    async encode(task, signal) {
      clearTimeout(idling)
      current = Promise.withResolvers<EncodeAnswer>()
      const onAbort = (): void => {
        current?.reject(interrupted(signal))
        void worker.terminate()
      }
      signal.addEventListener('abort', onAbort)
      worker.ref()
      worker.postMessage(task)
      try {
        return await current.promise
      } finally {
        signal.removeEventListener('abort', onAbort)
        current = undefined
        worker.unref()
        idling = setTimeout(retire, idleLimitMs).unref()
      }
    },
  }
  worker.on('message', (answer: EncodeAnswer) => current?.resolve(answer))
  worker.on('error', (error) => current?.reject(error))
  worker.on('exit', () => {
    clearTimeout(idling)
    current?.reject(new Error('The encoder ended without an answer.'))
    onGone(thread)
  })
  return thread
}

const interrupted = (signal: AbortSignal): Error =>
  new Error('The encoding was interrupted.', { cause: signal.reason })
