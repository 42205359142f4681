import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command, CommanderError } from 'commander'
import { UsageError, type CliContext } from './cli-context.ts'

/** Adds its commands to the program. */
export type CommandGroup = (program: Command, context: CliContext) => void

/**
 * Runs one command line to its end and returns the exit status: 0, 1 for what failed, 2 for wrong use. Answers go to
 * stdout, problems to stderr.
 */
export const runCli = async (
  argv: readonly string[],
  groups: readonly CommandGroup[],
  context: CliContext,
): Promise<number> => {
  const program = new Command('outdial')
    .description('Places AI phone calls for other software.')
    .version(programVersion(), '--version', 'print the version')
    .helpCommand(true)
  // Before the commands are added: they inherit it.
  program.exitOverride().configureOutput({
    writeOut: (text) => context.print(text.replace(/\n$/, '')),
    writeErr: (text) => context.warn(text.replace(/\n$/, '')),
  })
  for (const addCommands of groups) addCommands(program, context)
  try {
    await program.parseAsync(argv, { from: 'user' })
    return 0
  } catch (error) {
    return statusOf(error, context)
  }
}

const programVersion = (): string => {
  const file = join(import.meta.dirname, '../../package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

const statusOf = (error: unknown, context: CliContext): number => {
  // Commander has printed its own sentence; help and version end well.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof UsageError) {
    context.warn(error.message)
    return 2
  }
  context.warn(error instanceof Error ? error.message : String(error))
  return 1
}
