import { setTimeout as delay } from 'node:timers/promises'
import { notFound } from '../../contract/api-error.ts'
import type { ImportWorkKind } from '../../contract/console/imports.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Queryable, Transaction } from '../../database/database.ts'
import { findImport, type ImportRow } from '../../domains/contacts/file/import-store.ts'
import { beginImportWork, findImportWork } from '../../domains/contacts/file/import-work.ts'
import type { ConsoleHandler } from '../console-handler.ts'

type Context = Parameters<ConsoleHandler<'commitImport'>>[1]

/** A file of as many rows is worked on within its request. */
const maxRowsAtOnce = 2_000
/** A request waits this long for the work on a larger file; afterwards the browser asks how far it is. */
const longestWaitMs = 2_000

/** The file, not locked: a transaction of its own may work on it. Throws `resource_not_found`. */
export const requireImport = async (
  db: Queryable,
  organizationId: OrganizationId,
  importId: string,
): Promise<ImportRow> => {
  const file = await findImport(db, organizationId, importId)
  if (!file) throw notFound()
  return file
}

/** The context of a request for what outlasts it: the address is read while there is a connection. */
export const lastingContext = ({
  principal,
  visit,
}: Context): Pick<Context, 'principal' | 'visit'> => {
  const address = visit.address()
  return { principal, visit: Object.assign(Object.create(visit), { address: () => address }) }
}

/**
 * Works on a file: a small one within the request, in its transaction; a large one in a transaction of its own that goes
 * on after the request.
 */
export const workOn = async <Result, Answer>(
  { db, organizationId, parts }: Context,
  { id: importId, row_count: total }: ImportRow,
  kind: ImportWorkKind,
  run: (tx: Transaction, tell: (rows: number) => void) => Promise<Result>,
  answerOf: (result: Result) => Answer,
  keptOf: (result: Result) => unknown = answerOf,
) => {
  if (total <= maxRowsAtOnce) return answerOf(await run(db, () => {}))
  const { database, logger } = parts
  const work = { database, logger, organizationId, importId, kind, total }
  let answer: { readonly value: Answer } | undefined
  const { ended } = await beginImportWork(work, async (tx, tell) => {
    const result = await run(tx, tell)
    answer = { value: answerOf(result) }
    return keptOf(result)
  })
  await Promise.race([ended, delay(longestWaitMs, undefined, { ref: false })])
  const found = await findImportWork(database, organizationId, importId)
  if (found?.status === 'done' && answer) return answer.value
  return { kind, status: 'running' as const, done: found?.done ?? 0, total }
}
