import type { Database } from '../../src/database/database.ts'

/** The transactions of a database whose hints are written down, once committed, and sent to nobody. */
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
    /** What was sent since the last time this was asked. */
    take: () => hints.splice(0),
    takeChannels: () => hints.splice(0).map(({ channel }) => channel),
  }
}
