import type { Config } from '../../config/read-config.ts'
import type { Database } from '../../database/database.ts'
import { findRecordingAudio } from '../../domains/recordings/recording-store.ts'
import { createMediaServer } from '../../http/media-server.ts'
import type { Clock } from '../../runtime/time.ts'
import type { Logger } from '../../runtime/logger.ts'
import { signUrl, verifySignedUrl } from '../../storage/signed-url.ts'
import { httpOrigin } from '../../http/http-origin.ts'
import { openSigningKeys } from '../../domains/organizations/signing-keys.ts'
import { openRecordingStorage } from '../../storage/open-recording-storage.ts'

/** The media origin: stores MP3 files and serves them behind signed URLs. */
export const createDownloads = async (
  config: Pick<Config, 'store' | 'http' | 'bucket'>,
  database: Database,
  clock: Clock,
  logger: Logger,
) => {
  const keys = await openSigningKeys(database, logger)
  const storage = openRecordingStorage(config.store.dataFolder, config.bucket).objects
  const server = createMediaServer({
    host: config.http.host,
    port: config.http.mediaPort,
    trustedProxies: config.http.trustedProxies,
    verify: (url) => verifySignedUrl(url, keys.all, clock.now()),
    openRecording: async (id) => {
      const audio = await findRecordingAudio(database, id)
      return audio && storage.open(audio.storageKey)
    },
    logger,
  })
  const publicUrl = (): string =>
    config.http.publicMediaUrl ?? httpOrigin(config.http.host, server.port)
  return {
    storage,
    server,
    keys,
    publicUrl,
    signUrl: (recordingId: string, expiresAt: Date): string =>
      signUrl({ origin: publicUrl(), recordingId, expiresAt, key: keys.signing }),
  }
}
