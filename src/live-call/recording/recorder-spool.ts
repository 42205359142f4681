import { open, unlink, type FileHandle } from 'node:fs/promises'
import {
  encodeSpoolHeader,
  spoolFrameBytes,
  spoolHeaderBytes,
  type SpoolHeader,
} from './spool-format.ts'

/** Appends a call's audio to its spool file. Frames are copied at once; the caller never waits for the disk. */
export interface RecorderSpool {
  /** One tick: 160 bytes of mu-law as sent to and as heard from the callee. */
  write(agent: Uint8Array, contact: Uint8Array): void
  /** Flushes and closes; unwritten audio is counted as lost. Safe twice. */
  close(): Promise<SpoolFigures>
}

export interface SpoolFigures {
  readonly path: string
  /** Ticks since the answer: the required length of the recording. */
  readonly framesExpected: number
  readonly framesWritten: number
  /** Frames that are silence in the file because the disk was too slow or refused them. */
  readonly framesLost: number
}

/** A chunk is flushed each second of audio: the most that a kill -9 costs. */
const chunkFrames = 50
/** Chunks that wait for a slow disk: 16 seconds, 256 kB a call. */
const maxPendingChunks = 16
/** Chunks reused for the next seconds once they are on disk. */
const maxSpareChunks = 2
const silence = 0xff

/**
 * Every chunk has its own place in the file, so that both lanes stay on the recording's clock: the place of a lost
 * chunk is filled with silence before the next one is written, at the latest on close.
 */
export const createRecorderSpool = (path: string, header: SpoolHeader): RecorderSpool => {
  const spare: Buffer[] = []
  let chunk = newChunk()
  let chunkLength = 0
  let framesExpected = 0
  let framesLost = 0
  let framesOnDisk = 0
  let pendingChunks = 0
  let closing: Promise<SpoolFigures> | undefined

  let opened: Promise<FileHandle> | undefined

  /** A disk that was full at the start of the call may have space by now. */
  const openOnce = (): Promise<FileHandle> =>
    (opened ??= openSpool(path, header).catch((error: unknown) => {
      opened = undefined
      throw error
    }))
  let tail: Promise<unknown> = openOnce().catch(() => undefined)

  const writeChunk = async (bytes: Buffer, firstFrame: number): Promise<void> => {
    const file = await openOnce()
    await writeSilence(file, framesOnDisk, firstFrame)
    await writeAll(file, bytes, firstFrame)
    framesOnDisk = firstFrame + bytes.length / spoolFrameBytes
  }

  const flush = (): void => {
    if (chunkLength === 0) return
    const filled = chunk
    const bytes = filled.subarray(0, chunkLength)
    const frames = chunkLength / spoolFrameBytes
    const firstFrame = framesExpected - frames
    chunk = spare.pop() ?? newChunk()
    chunkLength = 0
    if (pendingChunks >= maxPendingChunks) {
      framesLost += frames
      return
    }
    pendingChunks += 1
    tail = tail
      .then(() => writeChunk(bytes, firstFrame))
      .catch(() => (framesLost += frames))
      .finally(() => {
        pendingChunks -= 1
        if (spare.length < maxSpareChunks) spare.push(filled)
      })
  }

  const finish = async (): Promise<SpoolFigures> => {
    flush()
    await tail
    await closeSpool(opened, framesOnDisk, framesExpected)
    return { path, framesExpected, framesWritten: framesExpected - framesLost, framesLost }
  }

  return {
    write: (agent, contact) => {
      if (closing !== undefined) return
      interleave(chunk, chunkLength, agent, contact)
      framesExpected += 1
      chunkLength += spoolFrameBytes
      if (chunkLength === chunk.length) flush()
    },
    close: () => (closing ??= finish()),
  }
}

const newChunk = (): Buffer => Buffer.allocUnsafe(chunkFrames * spoolFrameBytes)

/**
 * `wx`: two calls never share a file, and an older recording is never overwritten. Without a header no file stays.
 */
const openSpool = async (path: string, header: SpoolHeader): Promise<FileHandle> => {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.appendFile(encodeSpoolHeader(header))
    return file
  } catch (error) {
    await file.close().catch(() => undefined)
    await unlink(path).catch(() => undefined)
    throw error
  }
}

const interleave = (into: Buffer, offset: number, agent: Uint8Array, contact: Uint8Array): void => {
  for (let sample = 0; sample < spoolFrameBytes / 2; sample += 1) {
    into[offset + sample * 2] = agent[sample] ?? silence
    into[offset + sample * 2 + 1] = contact[sample] ?? silence
  }
}

const writeAll = async (file: FileHandle, bytes: Buffer, firstFrame: number): Promise<void> => {
  const position = spoolHeaderBytes + firstFrame * spoolFrameBytes
  let written = 0
  while (written < bytes.length) {
    const result = await file.write(bytes, written, bytes.length - written, position + written)
    written += result.bytesWritten
  }
}

const writeSilence = async (
  file: FileHandle,
  fromFrame: number,
  toFrame: number,
): Promise<void> => {
  for (let frame = fromFrame; frame < toFrame; frame += chunkFrames) {
    const frames = Math.min(toFrame - frame, chunkFrames)
    await writeAll(file, Buffer.alloc(frames * spoolFrameBytes, silence), frame)
  }
}

/** A recording whose disk is gone cannot be saved: the frame counts report it. */
const closeSpool = async (
  opened: Promise<FileHandle> | undefined,
  framesOnDisk: number,
  framesExpected: number,
): Promise<void> => {
  try {
    const file = await opened
    if (file === undefined) return
    await writeSilence(file, framesOnDisk, framesExpected).catch(() => undefined)
    await file.close()
  } catch {
    return
  }
}
