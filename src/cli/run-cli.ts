import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command, CommanderError } from 'commander'
import { InvalidFileError } from '../domains/organizations/invalid-file.ts'
import { OperatorError } from '../domains/organizations/operator-error.ts'
import { UsageError, type CliContext } from './cli-context.ts'
import { tell, warn } from './output.ts'

/** Adds its commands to the program. */
export type CommandGroup = (program: Command, context: CliContext) => void

/** Commands that are loaded when one of them is called. */
export interface LazyGroup {
  readonly names: readonly string[]
  readonly load: () => Promise<CommandGroup>
}

/**
 * Runs one command line to its end and returns the exit status: 0, 1 for what failed, 2 for wrong use. Answers go to
 * stdout, problems to stderr.
 */
export const runCli = async (
  argv: readonly string[],
  groups: readonly (CommandGroup | LazyGroup)[],
  context: CliContext,
): Promise<number> => {
  const program = new Command('outdial')
    .description('Places AI phone calls for other software.')
    .version(programVersion(), '--version', 'print the version')
    .helpCommand(true)
  // Before the commands are added: they inherit it.
  program.exitOverride().configureOutput({
    writeOut: (text) => tell(context, text.replace(/\n$/, '').split('\n')),
    writeErr: (text) => warn(context, text.replace(/\n$/, '').split('\n')),
    ...(context.terminalWidth !== undefined && {
      getOutHelpWidth: () => context.terminalWidth ?? 80,
    }),
  })
  for (const addCommands of await groupsOf(argv, groups)) addCommands(program, context)
  try {
    await program.parseAsync(argv, { from: 'user' })
    return 0
  } catch (error) {
    return statusOf(error, context)
  }
}

/** Those of the command that is called; all where none is known, as for the help. */
const groupsOf = (
  argv: readonly string[],
  groups: readonly (CommandGroup | LazyGroup)[],
): Promise<CommandGroup[]> => {
  const name = argv[0] === 'help' ? argv[1] : argv[0]
  const called = groups.filter(
    (group) => typeof group === 'function' || group.names.includes(name ?? ''),
  )
  const needed = called.length > 0 ? called : name === '--version' ? [] : groups
  return Promise.all(
    needed.map(async (group) => (typeof group === 'function' ? group : group.load())),
  )
}

const programVersion = (): string => {
  const file = join(import.meta.dirname, '../../package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

const statusOf = (error: unknown, context: CliContext): number => {
  // Commander has printed its own sentence; help and version end well.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof UsageError) {
    warn(context, error.message)
    return 2
  }
  warn(context, linesOf(error))
  return 1
}

/** Faults that are ours stand in lines of ours; what others say of theirs is one. */
const linesOf = (error: unknown): readonly string[] => {
  if (error instanceof OperatorError || error instanceof InvalidFileError) return error.lines
  return [error instanceof Error ? error.message : String(error)]
}
