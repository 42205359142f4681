import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { frameMs } from '../../audio/frame.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { EncodedAudio } from './encode-worker-protocol.ts'
import type { RecordingKeys } from '../../domains/recordings/recording-keys.ts'
import type { CallKey } from '../../domains/results/transcript-store.ts'
import type { CallJob } from '../call/follow-up-jobs.ts'
import { spoolSuffix } from './spool-format.ts'

export interface EncodeRecordingDependencies {
  readonly spoolFolder: string
  /** Spool to MP3; throws `UnreadableSpoolError` for a file without a recording. */
  encode(spoolPath: string, mp3Path: string, signal: AbortSignal): Promise<EncodedAudio>
  /** Stores the file and its waveform under the recording's keys; the same keys may be stored again. */
  store(call: CallKey, mp3Path: string, audio: EncodedAudio): Promise<RecordingKeys>
  /** False if the recording was deleted meanwhile: then nothing of it may stay. */
  markReady(call: CallKey, recording: ReadyRecording): Promise<boolean>
  /** Reverts `store`. Repeatable. */
  discard(keys: RecordingKeys): Promise<void>
  /** Only while it is `encoding`: a ready recording stays ready. */
  markFailed(call: CallKey): Promise<void>
  readonly logger: Logger
}

interface ReadyRecording extends RecordingKeys {
  readonly durationSeconds: number
  readonly sizeBytes: number
  /** 20 ms frames in the file. */
  readonly frames: number
}

/** The spool of a call is missing, empty or damaged. */
export class UnreadableSpoolError extends Error {
  override name = 'UnreadableSpoolError'
}

/**
 * The job after a recorded call: spool → MP3 → storage → `ready`; then the spool is deleted. Every step is
 * repeatable, so the job can be killed anywhere. Throws temporary errors (a full disk, unavailable storage): the job
 * runner tries again (`jobs/job-runner.ts`). `adopt-spools.ts` adds the job where a crash left a spool without one.
 */
export const createEncodeRecording =
  (deps: EncodeRecordingDependencies) =>
  async (job: CallJob, signal: AbortSignal): Promise<void> => {
    const call: CallKey = { organizationId: job.organization_id, callId: job.call_id }
    const spoolPath = join(deps.spoolFolder, call.callId + spoolSuffix)
    const mp3Path = `${spoolPath}.mp3`
    const startedAt = performance.now()
    try {
      if (!(await exists(spoolPath))) throw new UnreadableSpoolError('There is no spool.')
      const audio = await deps.encode(spoolPath, mp3Path, signal)
      const keys = await deps.store(call, mp3Path, audio)
      const isKept = await deps.markReady(call, {
        ...keys,
        durationSeconds: Math.round(audio.durationMs / 1000),
        sizeBytes: audio.sizeBytes,
        frames: audio.durationMs / frameMs,
      })
      if (!isKept) await deps.discard(keys)
      await rm(spoolPath)
      deps.logger.info(
        {
          call_id: call.callId,
          duration_ms: audio.durationMs,
          took_ms: Math.round(performance.now() - startedAt),
        },
        isKept ? 'a recording is ready' : 'a recording was deleted before it was ready',
      )
    } catch (error) {
      if (!(error instanceof UnreadableSpoolError)) throw error
      deps.logger.warn({ err: error, call_id: call.callId }, 'a call has no recording')
      await deps.markFailed(call)
      await rm(spoolPath, { force: true })
    } finally {
      await rm(mp3Path, { force: true })
    }
  }

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )
