import type { Command } from 'commander'
import { createLogger } from '../runtime/logger.ts'
import type { CliContext } from './cli-context.ts'
import { facts, hanging, show, type OutputOptions } from './terminal/output.ts'

type ArchiveCommandOptions = OutputOptions & { readonly recordings: boolean }

/** `outdial backup|restore|migrate`: none of them needs the service; backup can run beside it. */
export const addBackupCommands = (program: Command, context: CliContext): void => {
  const { config } = context
  const logger = createLogger('error')
  program
    .command('backup')
    .description('write everything to one file, while the service runs')
    .argument('<file>')
    .option('--no-recordings', 'leave the audio out')
    .option('--json', 'print JSON')
    .action(async (file: string, options: ArchiveCommandOptions) => {
      const archive = { path: file, withRecordings: options.recordings }
      const { backUpInstallation } = await import('../operator/backup.ts')
      const report = { file, ...(await backUpInstallation(config, archive, logger)) }
      show(context, options, { ...report, holds_credentials: true }, (width) => [
        ...facts([
          ['written', `${file}, ${report.bytes} bytes`],
          ['schema', report.migrations],
          ['rows', String(sumOf(report.tables))],
          ['jobs', String(report.jobs)],
          ['recordings', objectsWritten(report.objects)],
        ]),
        '',
        ...hanging('', whatItHolds, width),
      ])
    })
  program
    .command('restore')
    .description('put a backup into an empty installation')
    .argument('<file>')
    .option('--no-recordings', 'leave the audio out')
    .option('--json', 'print JSON')
    .action(async (file: string, options: ArchiveCommandOptions) => {
      const archive = { path: file, withRecordings: options.recordings }
      const { restoreInstallation } = await import('../operator/backup.ts')
      const report = { file, ...(await restoreInstallation(config, archive, logger)) }
      show(
        context,
        options,
        report,
        () =>
          `Restored the backup of ${report.created_at}: ${sumOf(report.tables)} rows, ${objectsWritten(report.objects)}.`,
      )
    })
  program
    .command('migrate')
    .description('bring the database up to this version')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions) => {
      const { migrateInstallation } = await import('../operator/backup.ts')
      const applied = await migrateInstallation(config, logger)
      show(context, options, { applied }, () =>
        applied.length === 0
          ? 'The database is up to date.'
          : `Applied ${applied.join(', ')}: the database is up to date.`,
      )
    })
}

const whatItHolds =
  'Keep this file as you keep passwords: it holds what people said, the credentials that agents’ tools send (headers and URLs), and the secrets that sign URLs. Hashes of API keys are in it, the keys are not.'

const sumOf = (rows: Readonly<Record<string, number>>): number =>
  Object.values(rows).reduce((sum, count) => sum + count, 0)

const objectsWritten = (objects: number): string => `${objects} objects of recordings`
