import type { Config } from '../config/read-config.ts'
import type { Database } from '../database/database.ts'

/** What a command works with. Tests give their own. */
export interface CliContext {
  readonly config: Config
  /**
   * The running instance's database, or the embedded one started for the duration. One that does not exist is made only
   * where the command says so.
   */
  readonly withDatabase: <T>(
    work: (db: Database) => Promise<T>,
    mayCreate?: 'may create',
  ) => Promise<T>
  /** To stdout, with a line end. For `output.ts`, which knows what may be printed. */
  readonly print: (text: string) => void
  /** To stderr, with a line end. For `output.ts`, too. */
  readonly warn: (text: string) => void
  /** Whether stdout is a terminal that a person looks at. */
  readonly isTerminal: boolean
  /** Characters in a line of it; undefined where stdout is a file or a pipe. */
  readonly terminalWidth?: number | undefined
  /** Whether stdout takes colours: a terminal that has them, unless NO_COLOR, or FORCE_COLOR. */
  readonly hasColour?: boolean
}

/** Wrong use of a command: exit status 2. Everything else that fails ends with 1. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
