import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
  type S3ClientConfig,
} from '@aws-sdk/client-s3'
import { backoffMs } from '../runtime/backoff.ts'
import { checkObjectKey, type ObjectStorage } from './object-storage.ts'

export interface S3Settings {
  readonly bucket: string
  readonly region: string
  /** Endpoint of a server other than Amazon's. */
  readonly endpoint?: string | undefined
  /** Put before every key, without a trailing slash. */
  readonly prefix?: string | undefined
  /** By default the machine's own permissions (instance role, AWS_* variables, ~/.aws). */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string }
  /** The bucket in the path instead of the host name: most other servers need this. */
  readonly usesPathStyle: boolean
}

const connectTimeoutMs = 5_000
/** No byte in either direction for this long. */
const idleTimeoutMs = 30_000
const maxAttempts = 3
const retryDelay = { baseMs: 200, maxMs: 2_000 }

/**
 * Objects in a bucket of Amazon S3 or of a server with the same protocol. A PUT is also complete or absent there.
 */
export const createS3Storage = (settings: S3Settings): ObjectStorage => {
  const client = new S3Client(clientConfig(settings))
  const place = (key: string) => ({ Bucket: settings.bucket, Key: keyIn(settings, key) })
  return {
    put: (key, source) => {
      const object = place(key)
      return 'bytes' in source
        ? put(client, { ...object, ContentLength: source.bytes.length }, () => source.bytes)
        : putFile(client, object, source.file)
    },
    open: async (key) => {
      const object = place(key)
      const head = await client.send(new HeadObjectCommand(object)).catch(ifPresent)
      if (!head) return undefined
      return {
        size: head.ContentLength ?? 0,
        stream: async ({ start, end }) => {
          const command = new GetObjectCommand({ ...object, Range: `bytes=${start}-${end}` })
          const { Body, ContentLength } = await client.send(command)
          if (!(Body instanceof Readable)) throw new Error('The storage answered without a body.')
          // Some servers return the whole object for some ranges.
          return ContentLength === end + 1 - start ? Body : Readable.from(cut(Body, start, end))
        },
      }
    },
    delete: async (key) => {
      await client.send(new DeleteObjectCommand(place(key)))
    },
  }
}

const clientConfig = (settings: S3Settings): S3ClientConfig => ({
  region: settings.region,
  forcePathStyle: settings.usesPathStyle,
  ...(settings.endpoint !== undefined && { endpoint: settings.endpoint }),
  ...(settings.credentials && { credentials: settings.credentials }),
  maxAttempts,
  // Trailing checksums are specific to Amazon: other servers refuse them, or store them as part of the bytes.
  requestChecksumCalculation: 'WHEN_REQUIRED',
  responseChecksumValidation: 'WHEN_REQUIRED',
  requestHandler: { connectionTimeout: connectTimeoutMs, socketTimeout: idleTimeoutMs },
})

const keyIn = ({ prefix }: S3Settings, key: string): string =>
  checkObjectKey(prefix === undefined ? key : `${prefix}/${checkObjectKey(key)}`)

interface PutTarget {
  readonly Bucket: string
  readonly Key: string
}

const putFile = async (client: S3Client, object: PutTarget, file: string): Promise<void> => {
  const { size } = await stat(file)
  await put(client, { ...object, ContentLength: size }, () => createReadStream(file))
}

/** Retries with a new body, because the client repeats no request whose stream it has begun to read. */
const put = async (
  client: S3Client,
  object: PutTarget & { readonly ContentLength: number },
  openBody: () => Readable | Uint8Array,
): Promise<void> => {
  for (let attempt = 1; ; attempt += 1) {
    const body = openBody()
    try {
      await client.send(new PutObjectCommand({ ...object, Body: body }))
      return
    } catch (error) {
      if (body instanceof Readable) body.destroy()
      if (attempt === maxAttempts || isRefusal(error)) throw error
      await delay(backoffMs(attempt, retryDelay))
    }
  }
}

/** The server understood and refused: a retry changes nothing. */
const isRefusal = (error: unknown): boolean =>
  error instanceof S3ServiceException &&
  (error.$metadata.httpStatusCode ?? 500) < 500 &&
  error.$metadata.httpStatusCode !== 429

/** The bytes from `start` to `end`, both inclusive, of a stream of all of them. */
async function* cut(whole: Readable, start: number, end: number): AsyncGenerator<Buffer> {
  let position = 0
  for await (const chunk of whole as AsyncIterable<Buffer>) {
    const part = chunk.subarray(Math.max(0, start - position), end + 1 - position)
    position += chunk.length
    if (part.length > 0) yield part
    if (position > end) return
  }
}

const ifPresent = (error: unknown): undefined => {
  if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404)
    return undefined
  throw error
}
