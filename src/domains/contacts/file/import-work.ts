import { ApiError } from '../../../contract/api-error.ts'
import { importWorkResult, type ImportWorkKind } from '../../../contract/console/imports.ts'
import type { OrganizationId } from '../../../contract/organization-id.ts'
import { sql, type Database, type Queryable, type Transaction } from '../../../database/database.ts'
import { isUuid } from '../../../runtime/ids.ts'
import type { Logger } from '../../../runtime/logger.ts'

/** Files that one process works on at a time. */
const maxWorks = 3
/** How often the progress is written. */
const beatMs = 500
/** Work without a beat for this long died with its process, and may begin again. */
const deadAfterSeconds = 30

interface WorkOptions {
  readonly database: Database
  readonly logger: Logger
  readonly organizationId: OrganizationId
  readonly importId: string
  readonly kind: ImportWorkKind
  /** Rows of the file. */
  readonly total: number
}

/** What the work does, in one transaction; it tells how many rows are done. */
type Run = (tx: Transaction, tell: (rows: number) => void) => Promise<unknown>

const beginStatement = sql(
  'import-work.begin',
  `insert into contact_import_work (organization_id, import_id, kind, total)
   values ($1, $2, $3, $4)
   on conflict (organization_id, import_id) do update
      set kind = excluded.kind, total = excluded.total, status = 'running', done = 0, result = null, updated_at = now()
    where contact_import_work.status <> 'running'
       or contact_import_work.updated_at < now() - make_interval(secs => $5)`,
)

const beatStatement = sql(
  'import-work.beat',
  `update contact_import_work
      set done = $3, updated_at = now()
    where organization_id = $1
      and import_id = $2
      and status = 'running'`,
)

const endStatement = sql(
  'import-work.end',
  `update contact_import_work
      set status = $3, result = $4, done = case when $3 = 'done' then total else done end, updated_at = now()
    where organization_id = $1
      and import_id = $2
      and status = 'running'`,
)

let running = 0

/**
 * Begins work on a file that goes on after the request: all of it or nothing, in a transaction of its own. The promise
 * resolves when the work has ended, however it ended; `findImportWork` tells what came of it. Throws
 * `resource_state_conflict` while the file, or too many others, are being worked on.
 */
export const beginImportWork = async (
  options: WorkOptions,
  run: Run,
): Promise<{ readonly ended: Promise<void> }> => {
  const { database, organizationId, importId, kind, total } = options
  if (running >= maxWorks)
    throw new ApiError('resource_state_conflict', 'Other files are being read: try again soon.')
  running += 1
  try {
    const values = [organizationId, importId, kind, total, deadAfterSeconds]
    if ((await database.run(beginStatement, values)) === 0)
      throw new ApiError('resource_state_conflict', 'The file is being worked on already.')
  } catch (error) {
    running -= 1
    throw error
  }
  return { ended: work(options, run).finally(() => (running -= 1)) }
}

const work = async (options: WorkOptions, run: Run): Promise<void> => {
  const { database, logger, organizationId, importId } = options
  let done = 0
  const beat = setInterval(() => {
    database
      .run(beatStatement, [organizationId, importId, done])
      .catch((error: unknown) =>
        logger.warn({ err: error }, 'an import could not tell how far it is'),
      )
  }, beatMs)
  const end = (status: 'done' | 'failed', result: unknown): Promise<number> =>
    database.run(endStatement, [organizationId, importId, status, JSON.stringify(result)])
  try {
    const result = await database.transaction((tx) => run(tx, (rows) => (done = rows)))
    await end('done', result)
  } catch (error) {
    if (!(error instanceof ApiError)) logger.error({ err: error }, 'an import broke')
    await end('failed', failureOf(error)).catch((again: unknown) =>
      logger.error({ err: again }, 'the end of an import could not be kept'),
    )
  } finally {
    clearInterval(beat)
  }
}

const failureOf = (error: unknown) =>
  error instanceof ApiError
    ? { code: error.code, message: error.message }
    : { code: 'internal_error', message: 'The file could not be worked on.' }

const findStatement = sql(
  'import-work.findImportWork',
  `select kind, done, total, result,
          case when status = 'running' and updated_at < now() - make_interval(secs => $3) then 'lost' else status end
            as status
     from contact_import_work
    where organization_id = $1
      and import_id = $2`,
)

interface WorkRow {
  readonly kind: ImportWorkKind
  readonly status: 'running' | 'done' | 'failed' | 'lost'
  readonly done: number
  readonly total: number
  readonly result: unknown
}

/** How far the work on a file is, and what came of it. Undefined: nothing was begun. */
export const findImportWork = async (
  db: Queryable,
  organizationId: OrganizationId,
  importId: string,
) => {
  if (!isUuid(importId)) return undefined
  const row = await db.row<WorkRow>(findStatement, [organizationId, importId, deadAfterSeconds])
  if (!row) return undefined
  const { kind, done, total } = row
  const known = { kind, done, total }
  if (row.status === 'lost') return { ...known, status: 'failed' as const, failure: lost }
  if (row.status === 'failed')
    return {
      ...known,
      status: 'failed' as const,
      failure: importWorkResult.failure.parse(row.result),
    }
  if (row.status === 'running') return { ...known, status: 'running' as const }
  if (kind === 'check')
    return { ...known, status: 'done' as const, counts: importWorkResult.check.parse(row.result) }
  if (kind === 'commit')
    return { ...known, status: 'done' as const, receipt: importWorkResult.commit.parse(row.result) }
  return { ...known, status: 'done' as const, batch_ids: importWorkResult.draft.parse(row.result) }
}

const lost = { code: 'internal_error', message: 'The work was interrupted: begin again.' }

const purgeStatement = sql(
  'import-work.purge',
  `delete from contact_import_work
    where (organization_id, import_id) in (
          select organization_id, import_id
            from contact_import_work
           where updated_at < now() - interval '1 day'
           order by updated_at
           limit $1)`,
)

/** Deletes up to `limit` results that are a day old; how many. */
export const purgeImportWork = (db: Database, limit: number): Promise<number> =>
  db.run(purgeStatement, [limit])
