import { sql, type Queryable } from '../../database/database.ts'

interface KeysRow {
  readonly id: string
  readonly storage_key: string
  readonly peaks_key: string | null
}

const listStatement = sql(
  'recording-objects.listReadyKeys',
  `select id, storage_key, peaks_key
     from recordings
    where status = 'ready'
      and id > $1
    order by id
    limit $2`,
)

const pageSize = 1_000
const firstId = '00000000-0000-0000-0000-000000000000'

/** The keys of every object that ready recordings name, of all organizations. */
export async function* listRecordingObjectKeys(db: Queryable): AsyncGenerator<string> {
  let after = firstId
  for (;;) {
    const rows = await db.rows<KeysRow>(listStatement, [after, pageSize])
    for (const row of rows) {
      yield row.storage_key
      if (row.peaks_key !== null) yield row.peaks_key
    }
    const last = rows.at(-1)
    if (!last || rows.length < pageSize) return
    after = last.id
  }
}
