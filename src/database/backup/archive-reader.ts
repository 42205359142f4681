import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import {
  ArchiveError,
  decodeFrameHead,
  frameHeadBytes,
  magic,
  type ArchiveFigures,
  type FrameType,
  type Manifest,
} from './archive-format.ts'

export interface Frame {
  readonly type: FrameType
  readonly payload: Buffer
}

/**
 * The frames of a backup, the end frame included, one at a time. Throws `ArchiveError` where the file is cut short or
 * altered, at the latest after the last frame: nothing read before may be trusted until then.
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

/** Reads all of it once. Returns what it says of itself; throws `ArchiveError`. */
export const verifyArchive = async (
  path: string,
): Promise<{ manifest: Manifest; figures: ArchiveFigures }> => {
  let manifest: Manifest | undefined
  let figures: ArchiveFigures | undefined
  for await (const { type, payload } of readArchive(path)) {
    if (type === 'M') manifest = parse<Manifest>(payload)
    if (type === 'E') figures = parse<ArchiveFigures>(payload)
  }
  if (!manifest || !figures) throw new ArchiveError('The backup does not say what it holds.')
  return { manifest, figures }
}

/** JSON that our own writer made and the checksum covers. */
export const parse = <T>(payload: Buffer): T => {
  try {
    return JSON.parse(payload.toString('utf8')) as T
  } catch (error) {
    throw new ArchiveError('The backup is damaged: a description in it is no JSON.', {
      cause: error,
    })
  }
}

/** So many bytes at a time, whatever pieces the decompressor hands out. */
const takeBytes = (path: string) => {
  const source = createReadStream(path)
  const unzipped = createGunzip()
  pipeline(source, unzipped, () => undefined)
  const chunks = unzipped[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let held: Buffer[] = []
  let heldBytes = 0

  const next = async (): Promise<boolean> => {
    const result = await chunks.next().catch((error: unknown) => {
      throw unreadable(error)
    })
    if (result.done === true) return false
    held.push(result.value)
    heldBytes += result.value.length
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
