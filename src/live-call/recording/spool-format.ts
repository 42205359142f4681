import type { FileHandle } from 'node:fs/promises'
import type { OrganizationId } from '../../contract/organization-id.ts'

/**
 * A spool file holds one call's audio while it lasts: a header of 512 bytes, then interleaved G.711 mu-law at 8
 * kHz, agent (left) and contact (right), 320 bytes for each 20 ms. It needs no trailer, so it is readable up to the
 * last write after any crash.
 */
export interface SpoolHeader {
  readonly version: 1
  readonly codec: 'pcmu'
  readonly organizationId: OrganizationId
  readonly callId: string
  /** Answer time, RFC 3339: sample 0 of the recording. */
  readonly startedAt: string
}

export const spoolHeaderBytes = 512
/** 20 ms of both lanes. */
export const spoolFrameBytes = 320
/** 8 kHz, one byte a sample, two lanes. */
export const spoolBytesPerMs = 16
export const spoolSuffix = '.spool'

const magic = 'OUTDIAL-SPOOL '

/** The header as 512 bytes of text: magic, JSON, spaces, line feed. */
export const encodeSpoolHeader = (header: SpoolHeader): Buffer => {
  const text = magic + JSON.stringify(header)
  if (Buffer.byteLength(text) >= spoolHeaderBytes) throw new Error('The spool header is too long.')
  return Buffer.from(text + ' '.repeat(spoolHeaderBytes - 1 - Buffer.byteLength(text)) + '\n')
}

/**
 * The header of a spool file's first 512 bytes; `undefined` if they are not one (a crash before the first write).
 */
export const decodeSpoolHeader = (bytes: Buffer): SpoolHeader | undefined => {
  const text = bytes.subarray(0, spoolHeaderBytes).toString('utf8')
  if (bytes.length < spoolHeaderBytes || !text.startsWith(magic)) return undefined
  try {
    const header: unknown = JSON.parse(text.slice(magic.length))
    return isSpoolHeader(header) ? header : undefined
  } catch {
    return undefined
  }
}

const isSpoolHeader = (value: unknown): value is SpoolHeader => {
  if (typeof value !== 'object' || value === null) return false
  const header = value as Partial<Record<keyof SpoolHeader, unknown>>
  return (
    header.version === 1 &&
    header.codec === 'pcmu' &&
    [header.organizationId, header.callId, header.startedAt].every(
      (text) => typeof text === 'string',
    )
  )
}

/** Header and whole audio length of an open spool; a truncated last frame is omitted. */
export const readSpoolHeader = async (
  file: FileHandle,
): Promise<{ header: SpoolHeader; audioBytes: number } | undefined> => {
  const bytes = Buffer.alloc(spoolHeaderBytes)
  const { bytesRead } = await file.read(bytes, 0, spoolHeaderBytes, 0)
  const header = decodeSpoolHeader(bytes.subarray(0, bytesRead))
  if (header === undefined) return undefined
  const { size } = await file.stat()
  const frames = Math.max(0, Math.floor((size - spoolHeaderBytes) / spoolFrameBytes))
  return { header, audioBytes: frames * spoolFrameBytes }
}
