import { join } from 'node:path'
import type { Command } from 'commander'
import { programPath } from '../runtime/program-path.ts'
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
        ...(report.sealed_trunks.length === 0
          ? []
          : ['', ...hanging('', withoutKey(report.sealed_trunks, config), width)]),
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
      show(context, options, report, (width) => [
        `Restored the backup of ${report.created_at}: ${sumOf(report.tables)} rows, ${objectsWritten(report.objects)}.`,
        ...(report.sealed_trunks.length === 0
          ? []
          : ['', ...hanging('', sealedWithAnother(report.sealed_trunks, config), width)]),
      ])
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

type KeyPlace = Pick<CliContext['config'], 'store' | 'program'>

const fileOf = ({ store }: KeyPlace): string => join(store.dataFolder, 'secret-key')

const withoutKey = (trunks: readonly string[], config: KeyPlace): string =>
  `The passwords and TLS keys of trunks (${trunks.join(', ')}) are in it encrypted, and the key is not: keep ${
    config.program.secretKey === undefined ? fileOf(config) : 'OUTDIAL_SECRET_KEY'
  } in another place. Without it they must be entered again after a restore.`

const sealedWithAnother = (trunks: readonly string[], config: KeyPlace): string =>
  `The passwords and TLS keys of these trunks were encrypted with another key: ${trunks.join(', ')}. Before the start set OUTDIAL_SECRET_KEY to the key of the old installation, or copy its file secret-key to ${fileOf(config)}; or enter them again: ${programPath()} trunk set ${trunks[0] ?? 'NAME'} --password-file FILE.`

const sumOf = (rows: Readonly<Record<string, number>>): number =>
  Object.values(rows).reduce((sum, count) => sum + count, 0)

const objectsWritten = (objects: number): string => `${objects} objects of recordings`
