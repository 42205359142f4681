/** The frames of a backup file, see README.md. */

export type FrameType = 'M' | 'T' | 'J' | 'O' | 'D' | 'E'

const frameTypes = 'MTJODE'

export const magic = Buffer.from('OUTDIAL-BACKUP 1\n')
export const frameHeadBytes = 5
/** More data takes more frames: a reader never holds more than this of an untrusted file. */
export const maxPayloadBytes = 1024 * 1024

/** The file is not a backup, or was cut short or altered. The message is a sentence for the operator. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError'
}

export const encodeFrameHead = (type: FrameType, length: number): Buffer => {
  const head = Buffer.alloc(frameHeadBytes)
  head.write(type, 'latin1')
  head.writeUInt32BE(length, 1)
  return head
}

/** Throws `ArchiveError`. */
export const decodeFrameHead = (head: Buffer): { type: FrameType; length: number } => {
  const type = head.toString('latin1', 0, 1)
  const length = head.readUInt32BE(1)
  if (!isFrameType(type) || length > maxPayloadBytes)
    throw new ArchiveError('The backup is damaged: it holds something that is no frame.')
  return { type, length }
}

const isFrameType = (type: string): type is FrameType => frameTypes.includes(type)

/** The program's migration level at the time of the backup. */
export interface Manifest {
  readonly created_at: string
  readonly postgres: string
  readonly migrations: readonly { readonly name: string; readonly checksum: string }[]
}

/** What follows it in data frames. */
export interface TableHead {
  readonly name: string
  readonly columns: readonly string[]
}

export interface ObjectHead {
  readonly key: string
  readonly size: number
}

/** The content of a backup. */
export interface ArchiveFigures {
  /** Rows by table. */
  readonly tables: Readonly<Record<string, number>>
  readonly jobs: number
  readonly objects: number
}
