import { commandLine } from '../domains/audit/command-line.ts'
import { recordChange, type Change } from '../domains/audit/record-change.ts'
import type { Transaction } from '../database/database.ts'

/** Writes a command's change into the audit log, in its transaction (D18). */
export const noteChange = (tx: Transaction, change: Omit<Change, 'actor'>): Promise<void> =>
  recordChange(tx, { ...change, actor: commandLine() })
