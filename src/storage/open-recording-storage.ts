import { join } from 'node:path'
import { createFolderStorage } from './folder-storage.ts'
import type { ObjectStorage } from './object-storage.ts'
import { createS3Storage } from './s3-storage.ts'

interface BucketSettings {
  /** Undefined: recordings are kept in the data folder. */
  readonly name: string | undefined
  readonly endpoint: string | undefined
  readonly region: string
  readonly prefix: string | undefined
  readonly accessKeyId: string | undefined
  readonly secretAccessKey: string | undefined
  /** Undefined: true if there is an endpoint. */
  readonly usesPathStyle: boolean | undefined
}

/** The storage of recordings. */
interface RecordingStorage {
  readonly kind: 'folder' | 's3'
  readonly objects: ObjectStorage
}

/** Opens the configured bucket, or the folder `recordings` of the data folder. */
export const openRecordingStorage = (
  dataFolder: string,
  bucket: BucketSettings,
): RecordingStorage =>
  bucket.name === undefined
    ? { kind: 'folder', objects: createFolderStorage(join(dataFolder, 'recordings')) }
    : { kind: 's3', objects: s3Storage(bucket.name, bucket) }

const s3Storage = (bucket: string, settings: BucketSettings): ObjectStorage => {
  const { region, endpoint, prefix, accessKeyId, secretAccessKey } = settings
  return createS3Storage({
    bucket,
    region,
    endpoint,
    prefix,
    usesPathStyle: settings.usesPathStyle ?? endpoint !== undefined,
    ...(accessKeyId !== undefined &&
      secretAccessKey !== undefined && { credentials: { accessKeyId, secretAccessKey } }),
  })
}
