import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { PassThrough } from 'node:stream'
import { createGzip } from 'node:zlib'
import { encodeFrameHead, magic, maxPayloadBytes, type FrameType } from './archive-format.ts'

/** Writes frames to a file that appears under its name only when it is complete. */
export interface ArchiveWriter {
  /** Waits while the disk is slower. */
  write(type: FrameType, payload: Uint8Array | object): Promise<void>
  /** The end frame, with the checksum, then everything to disk. Returns the size of the file. */
  finish(figures: object): Promise<number>
  /** Deletes the unfinished file. Safe after `finish`, which it does not undo. */
  abandon(): Promise<void>
}

/** Only its owner may read it: it contains conversations, and hashes of keys. */
const fileMode = 0o600

export const createArchiveWriter = (path: string): ArchiveWriter => {
  const unfinished = `${path}.${randomUUID()}.part`
  const input = new PassThrough()
  const hash = createHash('sha256')
  const output = createWriteStream(unfinished, { mode: fileMode, flags: 'wx', flush: true })
  const written = pipeline(input, createGzip(), output)
  written.catch(() => undefined)

  const send = async (bytes: Uint8Array): Promise<void> => {
    hash.update(bytes)
    if (input.write(bytes)) return
    // A writer that waits for a full disk must get the error.
    await Promise.race([new Promise((resolve) => input.once('drain', resolve)), written])
    if (input.destroyed) await written
  }

  const writeFrame = async (type: FrameType, payload: Uint8Array): Promise<void> => {
    await send(encodeFrameHead(type, payload.length))
    await send(payload)
  }

  const write: ArchiveWriter['write'] = async (type, payload) => {
    const bytes = payload instanceof Uint8Array ? payload : Buffer.from(JSON.stringify(payload))
    for (let at = 0; at === 0 || at < bytes.length; at += maxPayloadBytes)
      await writeFrame(type, bytes.subarray(at, at + maxPayloadBytes))
  }

  input.write(magic)
  hash.update(magic)
  return {
    write,
    finish: async (figures) => {
      const sha256 = hash.copy().digest('hex')
      await write('E', { sha256, ...figures })
      input.end()
      await written
      await rename(unfinished, path)
      await syncFolder(dirname(path))
      return output.bytesWritten
    },
    abandon: async () => {
      input.destroy()
      await written.catch(() => undefined)
      await rm(unfinished, { force: true })
    },
  }
}

const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
