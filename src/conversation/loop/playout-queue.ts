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
  /**
   * Queues again what was played of the playing utterance, from its beginning; of a long one the last ten seconds, from
   * a pause in them.
   */
  rewind(): void
  /** Queues again what was played of the word that is playing. */
  rewindToWord(): void
  /** Drops everything and returns it, the playing utterance first. */
  clear(): PlayedUtterance[]
  /** How far the first utterance is; undefined while there is none. */
  readonly playing: PlayedUtterance | undefined
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
  /** The frames played last, oldest first, at most `maxRewindFrames`: views into its audio. */
  readonly past: Uint8Array[]
}

/** Three minutes of speech: an agent with more queued speech is broken. */
const maxQueuedBytes = 180_000 * g711BytesPerMs

const maxRewindFrames = 500
/** A word is hardly longer than 600 ms. */
const maxWordFrames = 30

/**
 * `onFinished` is called when the last frame of an utterance has been played: one frame after it
 * was taken. `isQuiet` finds the pauses between words.
 */
export const createPlayoutQueue = (
  onFinished: (utterance: PlayedUtterance) => void,
  isQuiet: (frame: Uint8Array) => boolean = () => false,
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
    utterance.past.push(frame)
    if (utterance.past.length > maxRewindFrames) utterance.past.shift()
    return frame
  }

  const rewind = (utterance: QueuedUtterance): void => {
    const { past, producedBytes } = utterance
    const playedFrames = (producedBytes - utterance.queuedBytes) / g711FrameBytes
    playAgain(utterance, playedFrames > past.length ? afterPause(past, isQuiet) : 0)
    past.length = 0
  }

  /** Queues the last played frames again, from this index on. */
  const playAgain = (utterance: QueuedUtterance, from: number): void => {
    const { chunks, past, chunkAt } = utterance
    const again = past.splice(from)
    const [first] = chunks
    if (first) chunks[0] = first.subarray(chunkAt)
    utterance.chunkAt = 0
    chunks.unshift(...again)
    utterance.queuedBytes += again.length * g711FrameBytes
    queuedBytes += again.length * g711FrameBytes
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
    rewind() {
      finishPlayed()
      const utterance = utterances[0]
      if (utterance) rewind(utterance)
    },
    rewindToWord() {
      finishPlayed()
      const utterance = utterances[0]
      if (!utterance) return
      const first = Math.max(0, utterance.past.length - maxWordFrames)
      const pauseAt = utterance.past.findLastIndex((frame, at) => at >= first && isQuiet(frame))
      if (pauseAt >= 0) playAgain(utterance, pauseAt)
    },
    has: (utteranceId) => utterances.some(({ id }) => id === utteranceId),
    clear() {
      const dropped = utterances.map(played)
      utterances = []
      queuedBytes = 0
      return dropped
    },
    get playing() {
      return utterances[0] && played(utterances[0])
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
  past: [],
})

/** 100 ms between two words or sentences. */
const pauseFrames = 5

/** The index after the first pause, or 0. */
const afterPause = (
  frames: readonly Uint8Array[],
  isQuiet: (frame: Uint8Array) => boolean,
): number => {
  let quiet = 0
  for (const [index, frame] of frames.entries()) {
    quiet = isQuiet(frame) ? quiet + 1 : 0
    if (quiet >= pauseFrames) return index + 1
  }
  return 0
}

const played = ({ id, producedBytes, queuedBytes }: QueuedUtterance): PlayedUtterance => ({
  utteranceId: id,
  playedMs: (producedBytes - queuedBytes) / g711BytesPerMs,
  producedMs: producedBytes / g711BytesPerMs,
})
