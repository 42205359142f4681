import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import {
  ArchiveError,
  decodeFrameHead,
  frameHeadBytes,
  magic,
  type FrameType,
} from './archive-format.ts'

export interface Frame {
  readonly type: FrameType
  readonly payload: Buffer
}

/**
 * The frames of a backup, including the end frame, one at a time. Throws `ArchiveError` if the file is cut short or
 * altered, at the latest after the last frame: until then no data read may be trusted.
 */
export async function* readArchive(path: string): AsyncGenerator<Frame> {
  const hash = createHash('sha256')
  const bytes = takeBytes(path)
  const start = await bytes.take(magic.length)
  if (!start.equals(magic)) throw new ArchiveError('This is no backup of Outdial.')
  hash.update(start)
  try {
    for (;;) {
      const head = await bytes.take(frameHeadBytes)
      const { type, length } = decodeFrameHead(head)
      const payload = await bytes.take(length)
      if (type === 'E') {
        const end = parse<{ sha256: string }>(payload)
        if (end.sha256 !== hash.digest('hex'))
          throw new ArchiveError('The backup was altered: its checksum is another one.')
        yield { type, payload }
        return await bytes.expectEnd()
      }
      hash.update(head).update(payload)
      yield { type, payload }
    }
  } finally {
    bytes.close()
  }
}

/** A JSON object; its content is still to be checked. */
export const parse = <T extends object>(payload: Buffer): T => {
  try {
    const value: unknown = JSON.parse(payload.toString('utf8'))
    if (typeof value === 'object' && value !== null) return value as T
    throw new TypeError('This is no object.')
  } catch (error) {
    throw new ArchiveError('The backup is damaged: a description in it is no JSON.', {
      cause: error,
    })
  }
}

/** Rows and silent recordings shrink to a hundredth at best; a file made to fill disks to a thousandth. */
const maxRatio = 500
const unzippedAtOnce = 64 * 1024 * 1024

/** This many bytes at a time, whatever pieces the decompressor returns. */
const takeBytes = (path: string) => {
  const source = createReadStream(path)
  const unzipped = createGunzip()
  pipeline(source, unzipped, () => undefined)
  const chunks = unzipped[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let held: Buffer[] = []
  let heldBytes = 0
  let unzippedBytes = 0

  const next = async (): Promise<boolean> => {
    const result = await chunks.next().catch((error: unknown) => {
      throw unreadable(error)
    })
    if (result.done === true) return false
    held.push(result.value)
    heldBytes += result.value.length
    unzippedBytes += result.value.length
    if (unzippedBytes > unzippedAtOnce + maxRatio * source.bytesRead)
      throw new ArchiveError('This is no backup: it unpacks to far more than one does.')
    return true
  }

  return {
    take: async (length: number): Promise<Buffer> => {
      while (heldBytes < length) {
        if (!(await next())) throw new ArchiveError('The backup was cut short.')
      }
      const all = held.length === 1 ? held[0]! : Buffer.concat(held)
      held = [all.subarray(length)]
      heldBytes = all.length - length
      return all.subarray(0, length)
    },
    expectEnd: async (): Promise<void> => {
      if (heldBytes > 0 || (await next()))
        throw new ArchiveError('The backup is damaged: something follows its end.')
    },
    close: () => {
      source.destroy()
      unzipped.destroy()
    },
  }
}

const unreadable = (error: unknown): Error => {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'Z_BUF_ERROR') return new ArchiveError('The backup was cut short.')
  if (code?.startsWith('Z_')) return new ArchiveError('This is no backup, or it is damaged.')
  return new ArchiveError(`The backup cannot be read: ${message}`, { cause: error })
}
