import type { Config } from '../config/read-config.ts'
import type { Database } from '../database/database.ts'

/** The environment of a command. Tests supply their own. */
export interface CliContext {
  readonly config: Config
  /**
   * The running instance's database, or the embedded one, started for the duration. Only a command that may create
   * a database creates one.
   */
  readonly withDatabase: <T>(
    work: (db: Database) => Promise<T>,
    mayCreate?: 'may create',
  ) => Promise<T>
  /** To stdout, with a line end. Only for `output.ts`, which decides what may be printed. */
  readonly print: (text: string) => void
  /** To stderr, with a line end. Also only for `output.ts`. */
  readonly warn: (text: string) => void
  /** Whether stdout is a terminal. */
  readonly isTerminal: boolean
  /** Its width in characters; undefined if stdout is a file or a pipe. */
  readonly terminalWidth?: number | undefined
  /** Whether stdout shows colours: a terminal that supports them, unless NO_COLOR, or FORCE_COLOR. */
  readonly hasColour?: boolean
}

/** Wrong use of a command: exit status 2. Every other failure exits with 1. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
