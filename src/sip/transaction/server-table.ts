import type { ServerTransaction } from './server-transaction.ts'

/**
 * The share that a server transaction uses: that of one dialog by its key, or that of everything outside of
 * dialogs.
 */
export type TableShare = { readonly dialogKey: string } | 'outside'

/** The open server transactions. Half of the places are reserved for dialogs, so that no flood blocks a BYE. */
interface ServerTable {
  find(key: string): ServerTransaction | undefined
  hasRoom(share: TableShare): boolean
  add(key: string, transaction: ServerTransaction, share: TableShare): void
  remove(key: string): void
  all(): readonly ServerTransaction[]
}

// A call leaves about two lingering server transactions for 32 s; half of this holds 200 calls per second.
const maxTransactions = 30_000
const maxOutside = 15_000
// INFO with keys, the busiest legitimate use, comes at a few per second and lingers for 32 s.
const maxOfOneDialog = 256

export const createServerTable = (): ServerTable => {
  const transactions = new Map<string, { transaction: ServerTransaction; share: TableShare }>()
  const ofDialogs = new Map<string, number>()
  let outside = 0
  return {
    find: (key) => transactions.get(key)?.transaction,
    hasRoom: (share) => {
      if (transactions.size >= maxTransactions) return false
      if (share === 'outside') return outside < maxOutside
      return (ofDialogs.get(share.dialogKey) ?? 0) < maxOfOneDialog
    },
    add: (key, transaction, share) => {
      transactions.set(key, { transaction, share })
      if (share === 'outside') outside += 1
      else ofDialogs.set(share.dialogKey, (ofDialogs.get(share.dialogKey) ?? 0) + 1)
    },
    remove: (key) => {
      const share = transactions.get(key)?.share
      if (!transactions.delete(key) || share === undefined) return
      if (share === 'outside') outside -= 1
      else {
        const left = (ofDialogs.get(share.dialogKey) ?? 0) - 1
        if (left > 0) ofDialogs.set(share.dialogKey, left)
        else ofDialogs.delete(share.dialogKey)
      }
    },
    all: () => [...transactions.values()].map(({ transaction }) => transaction),
  }
}
