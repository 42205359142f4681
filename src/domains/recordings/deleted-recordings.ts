import { sql, type Queryable, type Transaction } from '../../database/database.ts'
import type { ObjectStorage } from '../../storage/object-storage.ts'
import { recordingKeysOf } from './recording-keys.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/**
 * A recording is deleted in two steps. The deciding transaction marks it `deleted`: no list shows it and no signed
 * URL, however old, opens it. Then its bytes are deleted, and the row records when; after a crash in between, the
 * next run repeats the second step.
 */

const deleteStatement = sql(
  'deleted-recordings.deleteRecordings',
  `update recordings
      set status = 'deleted', updated_at = now()
    where organization_id = $1
      and call_id = any ($2::uuid[])
      and status <> 'deleted'`,
)

/** How many there were. Recordings that are being encoded are deleted too: their job stores nothing. */
export const deleteRecordings = (
  tx: Transaction,
  organizationId: OrganizationId,
  callIds: readonly string[],
): Promise<number> => tx.run(deleteStatement, [organizationId, callIds])

interface DeletedRow {
  readonly organization_id: OrganizationId
  readonly id: string
  readonly call_id: string
  readonly storage_key: string | null
  readonly peaks_key: string | null
}

const listStatement = sql(
  'deleted-recordings.listUnpurged',
  `select organization_id, id, call_id, storage_key, peaks_key
     from recordings
    where status = 'deleted'
      and purged_at is null
      and ($1::uuid is null or organization_id = $1)
    order by updated_at
    limit $2`,
)

const purgedStatement = sql(
  'deleted-recordings.markPurged',
  `update recordings
      set purged_at = now(), storage_key = null, peaks_key = null, size_bytes = null
    where organization_id = $1
      and id = $2
      and status = 'deleted'`,
)

interface PurgeOptions {
  /** Only of this organization. */
  readonly organizationId?: OrganizationId
  /**
   * Leaves objects that this storage lacks to the service: for a command, whose data folder may not be that of the
   * node with the bytes.
   */
  readonly onlyFound?: boolean
}

interface PurgedRecordings {
  /** Rows inspected; fewer than the limit means that no more are left. */
  readonly listed: number
  readonly purged: number
}

/** Deletes the bytes of up to `limit` deleted recordings. */
export const purgeDeletedRecordings = async (
  db: Queryable,
  storage: ObjectStorage,
  limit: number,
  { organizationId, onlyFound = false }: PurgeOptions = {},
): Promise<PurgedRecordings> => {
  const rows = await db.rows<DeletedRow>(listStatement, [organizationId ?? null, limit])
  let purged = 0
  for (const row of rows) {
    const { storageKey, peaksKey } = keysOf(row)
    if (onlyFound && !(await storage.open(storageKey))) continue
    await Promise.all([storage.delete(storageKey), storage.delete(peaksKey)])
    purged += await db.run(purgedStatement, [row.organization_id, row.id])
  }
  return { listed: rows.length, purged }
}

/** A recording whose job was killed halfway has objects but no keys yet. */
const keysOf = (row: DeletedRow) => {
  const derived = recordingKeysOf({ organizationId: row.organization_id, callId: row.call_id })
  return {
    storageKey: row.storage_key ?? derived.storageKey,
    peaksKey: row.peaks_key ?? derived.peaksKey,
  }
}
