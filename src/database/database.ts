/** PostgreSQL for the rest of the product. `openDatabase` (open-database.ts) creates one. */

/** One SQL statement under a name: prepared once per connection. */
export interface Statement {
  readonly name: string
  readonly text: string
  /** See `lookup`. */
  readonly isLookup?: true
  /** See `list`. */
  readonly isList?: true
}

/** Declares a statement. The name is unique in the program: `<noun>-store.<function>`. */
export const sql = (name: string, text: string): Statement => ({ name, text })

/**
 * Declares a statement that finds a few rows by a key and never waits for a lock, so that outside of transactions
 * it may share a connection and a write with others of its kind.
 */
export const lookup = (name: string, text: string): Statement => ({ name, text, isLookup: true })

/**
 * Declares a statement that reads a page of one organization, whose id is its first value. Outside of transactions
 * it has a few separate connections, so that placing and ending calls never wait for it, and is cancelled when it
 * takes too long (`ListCutError`).
 */
export const list = (name: string, text: string): Statement => ({ name, text, isList: true })

export interface Queryable {
  rows<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]>
  /** The first row, if any. */
  row<Row extends object>(
    statement: Statement,
    values: readonly unknown[],
  ): Promise<Row | undefined>
  /** How many rows the statement touched. */
  run(statement: Statement, values: readonly unknown[]): Promise<number>
}

export interface Transaction extends Queryable {
  /**
   * Lets a statement that was just sent leave together with COMMIT, which costs no separate round trip: the
   * transaction does not wait for its result, and fails if it fails. `onFailed` is for state in this process.
   */
  withCommit(statement: Promise<unknown>, onFailed?: () => void): void
  /** Runs after a successful commit, never after a rollback. For state in this process, not for effects. */
  afterCommit(hook: () => void): void
  /** Sends `Database.hint` after a successful commit, never after a rollback. */
  hintAfterCommit(channel: string, payload?: string): void
}

export interface Database extends Queryable {
  /** READ COMMITTED. Rolled back when `work` throws. Statements sent without waiting are pipelined in order. */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /**
   * Best effort: a lost notification must never matter. Reconnects by itself; `onPayload('')` is called after each
   * (re)connection.
   */
  listen(channel: string, onPayload: (payload: string) => void): Promise<{ stop(): Promise<void> }>
  /** Coalesced NOTIFY: at most one per channel and payload each 20 ms. Never throws. */
  readonly hint: (channel: string, payload?: string) => void
  stop(): Promise<void>
}
