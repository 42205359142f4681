import { join } from 'node:path'
import type { Config } from '../config.ts'
import { createFolderStorage } from '../storage/folder-storage.ts'
import type { ObjectStorage } from '../storage/object-storage.ts'
import { createS3Storage } from '../storage/s3-storage.ts'

/** Where recordings are kept. */
export interface RecordingStorage {
  readonly kind: 'folder' | 's3'
  readonly objects: ObjectStorage
}

/** The bucket that is configured, or the folder `recordings` of the data folder. */
export const openRecordingStorage = (config: Config): RecordingStorage =>
  config.OUTDIAL_S3_BUCKET === undefined
    ? { kind: 'folder', objects: createFolderStorage(join(config.OUTDIAL_DATA, 'recordings')) }
    : { kind: 's3', objects: s3Storage(config, config.OUTDIAL_S3_BUCKET) }

const s3Storage = (config: Config, bucket: string): ObjectStorage => {
  const { OUTDIAL_S3_ACCESS_KEY_ID: accessKeyId, OUTDIAL_S3_SECRET_ACCESS_KEY: secretAccessKey } =
    config
  const endpoint = config.OUTDIAL_S3_ENDPOINT
  return createS3Storage({
    bucket,
    region: config.OUTDIAL_S3_REGION,
    endpoint,
    prefix: config.OUTDIAL_S3_PREFIX,
    usesPathStyle: config.OUTDIAL_S3_FORCE_PATH_STYLE ?? endpoint !== undefined,
    ...(accessKeyId !== undefined &&
      secretAccessKey !== undefined && { credentials: { accessKeyId, secretAccessKey } }),
  })
}
