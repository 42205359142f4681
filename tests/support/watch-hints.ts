import type { Database } from '../../src/database/database.ts'

/** Records the hints of a database's transactions, once committed, and sends them to no listener. */
export const watchHints = (database: () => Database) => {
  const hints: { channel: string; payload: string | undefined }[] = []
  const transaction: Database['transaction'] = (work) =>
    database().transaction((tx) =>
      work({
        ...tx,
        hintAfterCommit: (channel, payload) =>
          tx.afterCommit(() => hints.push({ channel, payload })),
      }),
    )
  return {
    transaction,
    /** The hints since the last read. */
    take: () => hints.splice(0),
    takeChannels: () => hints.splice(0).map(({ channel }) => channel),
  }
}
