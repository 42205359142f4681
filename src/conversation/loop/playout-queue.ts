import { g711BytesPerMs } from '../../audio/frame.ts'
import { g711FrameBytes } from '../../audio/g711.ts'

/**
 * The agent's queued speech, in order, with an exact count of the played part of each utterance.
 */
export interface PlayoutQueue {
  /**
   * Whole frames of G.711. `false` when the queue is full: the rest of this utterance is dropped.
   */
  add(utteranceId: string, g711: Uint8Array): boolean
  /** No more audio comes for this utterance. */
  end(utteranceId: string): void
  /** The next 160 bytes, or `undefined` when nothing is to be played now. */
  next(): PlayedFrame | undefined
  has(utteranceId: string): boolean
  /** Drops everything and returns it, the playing utterance first. */
  clear(): PlayedUtterance[]
  /** Whether audio is queued or playing, or an utterance has begun and not ended. */
  readonly isBusy: boolean
  /** Whether the playing utterance has run dry before its end. */
  readonly isDry: boolean
}

interface PlayedFrame {
  /** A view into the queued audio: read it before the next call. */
  readonly frame: Uint8Array
  readonly utteranceId: string
}

export interface PlayedUtterance {
  readonly utteranceId: string
  readonly playedMs: number
  /** How much of it there was, at least. */
  readonly producedMs: number
}

interface QueuedUtterance {
  readonly id: string
  readonly chunks: Uint8Array[]
  /** The position of the next frame in the first chunk. */
  chunkAt: number
  queuedBytes: number
  producedBytes: number
  isEnded: boolean
}

/** Three minutes of speech: an agent with more queued speech is broken. */
const maxQueuedBytes = 180_000 * g711BytesPerMs

/**
 * `onFinished` is called when the last frame of an utterance has been played: one frame after it
 * was taken.
 */
export const createPlayoutQueue = (
  onFinished: (utterance: PlayedUtterance) => void,
): PlayoutQueue => {
  let utterances: QueuedUtterance[] = []
  let queuedBytes = 0

  const finishPlayed = (): void => {
    for (let first = utterances[0]; first?.isEnded && first.queuedBytes === 0;) {
      utterances.shift()
      onFinished(played(first))
      first = utterances[0]
    }
  }

  const takeFrame = (utterance: QueuedUtterance): Uint8Array => {
    const chunk = utterance.chunks[0]!
    const frame = chunk.subarray(utterance.chunkAt, utterance.chunkAt + g711FrameBytes)
    utterance.chunkAt += g711FrameBytes
    if (utterance.chunkAt >= chunk.length) {
      utterance.chunks.shift()
      utterance.chunkAt = 0
    }
    utterance.queuedBytes -= g711FrameBytes
    queuedBytes -= g711FrameBytes
    return frame
  }

  return {
    add(utteranceId, g711) {
      if (queuedBytes + g711.length > maxQueuedBytes) return false
      let utterance = utterances.find(({ id }) => id === utteranceId)
      if (!utterance) {
        utterance = emptyUtterance(utteranceId)
        utterances.push(utterance)
      }
      utterance.chunks.push(g711)
      utterance.queuedBytes += g711.length
      utterance.producedBytes += g711.length
      queuedBytes += g711.length
      return true
    },
    end(utteranceId) {
      const utterance = utterances.find(({ id }) => id === utteranceId)
      if (!utterance) return
      utterance.isEnded = true
      finishPlayed()
    },
    next() {
      finishPlayed()
      const utterance = utterances[0]
      if (!utterance || utterance.queuedBytes === 0) return undefined
      return { frame: takeFrame(utterance), utteranceId: utterance.id }
    },
    has: (utteranceId) => utterances.some(({ id }) => id === utteranceId),
    clear() {
      const dropped = utterances.map(played)
      utterances = []
      queuedBytes = 0
      return dropped
    },
    get isBusy() {
      return utterances.length > 0
    },
    get isDry() {
      return utterances[0] !== undefined && utterances[0].queuedBytes === 0
    },
  }
}

const emptyUtterance = (id: string): QueuedUtterance => ({
  id,
  chunks: [],
  chunkAt: 0,
  queuedBytes: 0,
  producedBytes: 0,
  isEnded: false,
})

const played = ({ id, producedBytes, queuedBytes }: QueuedUtterance): PlayedUtterance => ({
  utteranceId: id,
  playedMs: (producedBytes - queuedBytes) / g711BytesPerMs,
  producedMs: producedBytes / g711BytesPerMs,
})
