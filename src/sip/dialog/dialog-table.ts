import { canonicalAddress } from '../../runtime/ip-address.ts'
import { dialogKeyOf, dialogKeyOfRequest, peerUrisOf, type DialogState } from './dialog-state.ts'
import type { KnownCalls } from '../gate/known-calls.ts'
import type { SipRequest } from '../message/message.ts'
import type { SipResolver } from '../transport/resolver.ts'
import type { ServerTransaction } from '../transaction/server-transaction.ts'
import type { Source } from '../transport/transport.ts'
import { isAddress, parseSipUri } from '../message/uri.ts'

/** A dialog from the user agent's view: a destination of requests that can be ended. */
interface LiveDialog {
  receive(transaction: ServerTransaction, source: Source): void
  receiveAck(ack: SipRequest): void
  bye(): Promise<void>
  /** Sends its new Contact if the connection to this address carried it. */
  renewContact(address: string): void
  /** Drops the dialog without a message to the other side. */
  abandon(): void
}

/** The active dialogs, and the addresses that may send for each: where its requests go. */
export interface DialogTable {
  /** `firstHop`: the address with which the dialog was made. */
  add(state: DialogState, dialog: LiveDialog, firstHop: string | undefined): void
  /** Its remote target has changed, so another address may send for it. */
  moved(state: DialogState): void
  remove(state: DialogState): void
  /** The dialog a request belongs to by Call-ID and both tags. */
  find(request: SipRequest): FoundDialog | undefined
  /** Whether the address is a peer of any dialog. */
  hasPeer(address: string): boolean
  all(): readonly LiveDialog[]
}

export interface FoundDialog {
  readonly dialog: LiveDialog
  readonly key: string
  /** Whether the source is a peer of this dialog: its first hop, remote target or route set. */
  isPeer(source: Source): boolean
}

interface Entry {
  readonly dialog: LiveDialog
  readonly firstHop: string | undefined
  peers: ReadonlySet<string>
}

// First hop, remote target and the proxies next to us; a longer route set is noise.
const maxPeerUris = 6
const maxPeers = 16

export const createDialogTable = (known: KnownCalls, resolver: SipResolver): DialogTable => {
  const entries = new Map<string, Entry>()
  const peerCounts = new Map<string, number>()

  const setPeers = (entry: Entry, addresses: Iterable<string>): void => {
    const next = new Set([...addresses].slice(0, maxPeers))
    for (const address of next) peerCounts.set(address, (peerCounts.get(address) ?? 0) + 1)
    for (const address of entry.peers) {
      const left = (peerCounts.get(address) ?? 0) - 1
      if (left > 0) peerCounts.set(address, left)
      else peerCounts.delete(address)
    }
    entry.peers = next
  }

  /** Addresses count at once, names as soon as they are resolved. */
  const watch = (state: DialogState): void => {
    const key = dialogKeyOf(state)
    const entry = entries.get(key)
    if (entry === undefined) return
    const uris = peerUrisOf(state).slice(0, maxPeerUris).map(parseSipUri)
    const hosts = uris.flatMap((uri) => (uri === undefined ? [] : [uri.host]))
    const first = entry.firstHop === undefined ? [] : [entry.firstHop]
    setPeers(entry, [...first, ...hosts.filter(isAddress).map(canonicalAddress)])
    for (const uri of uris) {
      if (uri === undefined || isAddress(uri.host)) continue
      resolver.locate(uri).then(
        (found) => {
          const addresses = found.map(({ address }) => address)
          if (entries.get(key) === entry) setPeers(entry, [...entry.peers, ...addresses])
        },
        // A name without an address cannot send either.
        () => {},
      )
    }
  }

  return {
    add: (state, dialog, firstHop) => {
      const key = dialogKeyOf(state)
      const replaced = entries.get(key)
      if (replaced !== undefined) setPeers(replaced, [])
      else known.add(state.sipCallId, state.localTag)
      entries.set(key, { dialog, firstHop, peers: new Set() })
      watch(state)
    },
    moved: watch,
    remove: (state) => {
      const key = dialogKeyOf(state)
      const entry = entries.get(key)
      if (entry === undefined) return
      setPeers(entry, [])
      entries.delete(key)
      known.remove(state.sipCallId, state.localTag)
    },
    find: (request) => {
      const key = dialogKeyOfRequest(request)
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      return { dialog: entry.dialog, key, isPeer: ({ address }) => entry.peers.has(address) }
    },
    hasPeer: (address) => peerCounts.has(address),
    all: () => [...entries.values()].map(({ dialog }) => dialog),
  }
}
