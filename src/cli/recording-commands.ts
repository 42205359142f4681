import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import type { Database } from '../database/database.ts'
import { OperatorError } from '../domains/organizations/operator-error.ts'
import { organizationOf } from '../domains/organizations/organization-of.ts'
import { recordingResource } from '../domains/recordings/recording-resource.ts'
import {
  findRecording,
  findRecordingAudio,
  listRecordingRows,
  recordingIdOf,
  type RecordingAudio,
  type RecordingRow,
} from '../domains/recordings/recording-store.ts'
import { isUuid } from '../runtime/ids.ts'
import { programPath } from '../runtime/program-path.ts'
import type { CliContext } from './cli-context.ts'
import { readPages, showList, withListOptions, type ListOptions } from './list-options.ts'
import { show, type OutputOptions } from './terminal/output.ts'
import {
  requireOrganization,
  requireOwner,
  withOrganization,
  type OrganizationOption,
} from './require-organization.ts'

interface RecordingListOptions extends ListOptions {
  readonly contact?: string
}

interface DownloadOptions extends OutputOptions, OrganizationOption {
  readonly out?: string
}

/** `outdial recording list|download`. */
export const addRecordingCommands = (program: Command, context: CliContext): void => {
  const recording = program.command('recording').description('recordings of calls')
  withListOptions(recording.command('list').description('recordings, newest first'))
    .option('--contact <contact>', 'only those with this contact')
    .action(async (options: RecordingListOptions) => {
      const rows = await context.withDatabase((db) => listRecordings(db, options))
      showList(context, options, {
        resources: rows.map((row) => ({ ...recordingResource(row), call_id: row.any_call_id })),
        heading: ['ID', 'RECORDED', 'LASTED', 'CALL', 'CONTACT'],
        rows: rows.map((row) => [
          row.id,
          row.recorded_at.toISOString(),
          row.duration_seconds === null ? '' : `${row.duration_seconds} s`,
          row.any_call_id,
          row.contact_id ?? '',
        ]),
        whenEmpty: 'There is no recording.',
      })
    })
  withOrganization(
    recording
      .command('download')
      .description('write a recording to an MP3 file: the agent left, the contact right')
      .argument('<id>', 'recording id, or the id of its call'),
    'recording',
  )
    .option('--out <file>', 'the file; the recording’s id with .mp3 in this folder')
    .option('--json', 'print JSON')
    .action(async (id: string, options: DownloadOptions) => {
      const { row, audio } = await context.withDatabase((db) => find(db, options, id))
      const file = options.out ?? `${row.id}.mp3`
      await download(context, audio, file)
      const told = { id: row.id, file, size_bytes: audio.sizeBytes }
      show(context, options, told, () => `${file}: ${audio.sizeBytes} bytes`)
    })
}

const listRecordings = async (
  db: Database,
  { org, limit, contact }: RecordingListOptions,
): Promise<RecordingRow[]> => {
  const { id: organizationId } = await requireOrganization(db, org)
  if (contact !== undefined && !isUuid(contact)) return []
  return readPages(limit, (size, cursor: Parameters<typeof listRecordingRows>[1]['cursor']) =>
    listRecordingRows(db, {
      organizationId,
      limit: size,
      cursor,
      filters: { contact_id: contact },
    }),
  )
}

const find = async (db: Database, options: OrganizationOption, id: string) => {
  const owned = (await organizationOf(db, 'call', id)) === undefined ? 'recording' : 'call'
  const organizationId = await requireOwner(db, options, owned, id)
  if (isUuid(id)) {
    for (const recordingId of [id, recordingIdOf({ organizationId, callId: id })]) {
      const row = await findRecording(db, organizationId, recordingId)
      const audio = row && (await findRecordingAudio(db, recordingId))
      if (row && audio) return { row, audio }
    }
  }
  throw new OperatorError(
    `The organization has no recording ${id}, and no recorded call of that id. \`${programPath()} call show ID\` says what became of a recording.`,
  )
}

/** Never overwrites a file; a partly written file is removed. */
const download = async (
  { config }: CliContext,
  { storageKey, sizeBytes }: RecordingAudio,
  file: string,
): Promise<void> => {
  const { openRecordingStorage } = await import('../storage/open-recording-storage.ts')
  const object = await openRecordingStorage(config.store.dataFolder, config.bucket).objects.open(
    storageKey,
  )
  if (!object) throw new OperatorError(`The bytes of this recording are not in the storage.`)
  const target = createWriteStream(file, { flags: 'wx', mode: 0o600 })
  try {
    await pipeline(await object.stream({ start: 0, end: sizeBytes - 1 }), target)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new OperatorError(`${file} is there already: choose another name with --out.`)
    await rm(file, { force: true })
    throw error
  }
}
