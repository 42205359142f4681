import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

/** Frames of a backup file, written by the harness (src/database/backup/README.md). */
export const magic = Buffer.from('OUTDIAL-BACKUP 1\n')

export const frame = (type: string, payload: object | Buffer = Buffer.alloc(0)): Buffer => {
  const bytes = payload instanceof Buffer ? payload : Buffer.from(JSON.stringify(payload))
  return Buffer.concat([frameHead(type, bytes.length), bytes])
}

export const frameHead = (type: string, length: number): Buffer => {
  const head = Buffer.alloc(5)
  head.write(type, 'latin1')
  head.writeUInt32BE(length, 1)
  return head
}

/** Writes the pieces, compressed; with `isSealed` an end frame with the right checksum follows. */
export const writeBackup = async (
  path: string,
  pieces: Iterable<Buffer>,
  isSealed = true,
): Promise<void> => {
  const hash = createHash('sha256')
  function* all(): Generator<Buffer> {
    for (const piece of pieces) {
      hash.update(piece)
      yield piece
    }
    if (isSealed) yield frame('E', { sha256: hash.digest('hex'), tables: {}, jobs: 0, objects: 0 })
  }
  await pipeline(Readable.from(all()), createGzip({ level: 1 }), createWriteStream(path))
}
