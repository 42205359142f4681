import { readConfig } from '../../../src/config/read-config.ts'
import type { CliContext } from '../../../src/cli/cli-context.ts'
import { runCli } from '../../../src/cli/run-cli.ts'
import type { Database } from '../../../src/database/database.ts'

/** What a command printed on stdout and stderr, until now. */
export interface CapturedOutput {
  readonly stdout: string[]
  readonly stderr: string[]
}

export interface CaptureOptions {
  /** The database of the commands; without it a command that opens one fails. */
  readonly db?: Database
  /** The settings, as environment variables. */
  readonly settings?: Readonly<Record<string, string>>
  readonly isTerminal?: boolean
}

type Groups = Parameters<typeof runCli>[1]

/** Begins one command line in this process; its lines are in the output as they are printed. */
export const startCaptured = (
  args: readonly string[],
  groups: Groups,
  { db, settings = {}, isTerminal = false }: CaptureOptions,
): CapturedOutput & { readonly status: Promise<number> } => {
  const stdout: string[] = []
  const stderr: string[] = []
  const withDatabase: CliContext['withDatabase'] = async (work) => {
    if (!db) throw new Error('The database was opened.')
    return work(db)
  }
  const status = runCli(args, groups, {
    config: readConfig(settings),
    withDatabase,
    print: (text) => void stdout.push(text),
    warn: (text) => void stderr.push(text),
    isTerminal,
  })
  return { status, stdout, stderr }
}

/** Runs one command line to its end in this process. */
export const captureCli = async (
  args: readonly string[],
  groups: Groups,
  options: CaptureOptions,
): Promise<{ readonly status: number; readonly stdout: string; readonly stderr: string }> => {
  const { status, stdout, stderr } = startCaptured(args, groups, options)
  return { status: await status, stdout: stdout.join('\n'), stderr: stderr.join('\n') }
}
