import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command, CommanderError } from 'commander'
import { InvalidFileError } from '../domains/organizations/invalid-file.ts'
import { OperatorError } from '../domains/organizations/operator-error.ts'
import { UsageError, type CliContext } from './cli-context.ts'
import { tell, warn } from './terminal/output.ts'

/** Adds its commands to the program. */
export type CommandGroup = (program: Command, context: CliContext) => void

/** Commands that are loaded when one of them is called. */
export interface LazyGroup {
  /** Texts in the program's help: usage and description of each, equal to the commands' own. */
  readonly help: Readonly<Record<string, string>>
  readonly load: () => Promise<CommandGroup>
}

/**
 * Runs one command line to its end and returns the exit status: 0, 1 for a failure, 2 for wrong use. Results go to
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
  // Before the commands are added, because they inherit it.
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

/** The names of a group's commands. */
export const namesOf = ({ help }: LazyGroup): string[] =>
  Object.keys(help).map((usage) => usage.split(' ', 1)[0] ?? usage)

/** The commands of the called group; for the help, the listed texts of all groups. */
const groupsOf = (
  argv: readonly string[],
  groups: readonly (CommandGroup | LazyGroup)[],
): Promise<CommandGroup[]> => {
  const [first, second] = argv
  const name = first === 'help' || first === '--' ? second : first
  const called = groups.filter(
    (group) => typeof group === 'function' || namesOf(group).includes(name ?? ''),
  )
  if (called.length === 0) return Promise.resolve(groups.map(listInHelp))
  return Promise.all(
    called.map(async (group) => (typeof group === 'function' ? group : group.load())),
  )
}

const listInHelp = (group: CommandGroup | LazyGroup): CommandGroup =>
  typeof group === 'function'
    ? group
    : (program) => {
        for (const [usage, description] of Object.entries(group.help))
          program.command(usage).description(description)
      }

const programVersion = (): string => {
  const file = join(import.meta.dirname, '../../package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

const statusOf = (error: unknown, context: CliContext): number => {
  // Commander has printed its own sentence; help and version exit with 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof UsageError) {
    warn(context, error.message)
    return 2
  }
  warn(context, linesOf(error))
  return 1
}

/** Our own errors may have several lines; foreign texts are printed as one line. */
const linesOf = (error: unknown): readonly string[] => {
  if (error instanceof OperatorError || error instanceof InvalidFileError) return error.lines
  return [error instanceof Error ? error.message : String(error)]
}
