import { canonicalAddress } from '../../runtime/ip-address.ts'
import type { DropCounter, DropReason } from './drop-counter.ts'
import type { KnownCalls } from './known-calls.ts'
import type { SourceLimiter } from './source-limiter.ts'
import type { SipSources } from './sources.ts'
import type { Destination } from '../message/destination.ts'

/** Decides from address and bytes, before parsing, which messages are processed. */
export interface RequestGate {
  /** Whether the message is worth parsing. Others are counted here. */
  admits(bytes: Buffer, source: Destination): boolean
  /** Whether a connection from here is kept. */
  admitsConnection(source: Destination): boolean
  /** A client transaction awaits a response from there, until the returned function is called. */
  expect(destination: Destination): () => void
}

/** The addresses that may speak for a dialog: `DialogTable`, above this room. */
interface DialogPeers {
  hasPeer(address: string): boolean
}

interface RequestGateOptions {
  readonly sources: SipSources
  readonly dialogs: DialogPeers
  readonly known: KnownCalls
  /** Messages about none of our calls that one address may send. */
  readonly strays: SourceLimiter
  /** Messages of strangers that are searched for one of our calls, all addresses together. */
  readonly probes: SourceLimiter
  readonly drops: DropCounter
}

export const createRequestGate = (options: RequestGateOptions): RequestGate => {
  const { sources, dialogs, known, strays, probes, drops } = options
  const expected = new Map<string, number>()
  const mayComeFrom = (source: Destination): boolean => {
    if (sources.admits(source)) return true
    const address = canonicalAddress(source.address)
    return expected.has(address) || dialogs.hasPeer(address)
  }
  const refused = (reason: DropReason, { address }: Destination): false => {
    drops.count(reason, address)
    return false
  }
  /** Only some strangers are searched, so that a flood does not cost a search per message. */
  const reasonOf = (bytes: Buffer): DropReason =>
    probes.admits('') && known.mentions(bytes) ? 'stranger_in_call' : 'stranger'
  return {
    admits: (bytes, source) => {
      if (!mayComeFrom(source)) return refused(reasonOf(bytes), source)
      // Messages about our calls never wait behind a flood of others.
      if (known.mentions(bytes) || strays.admits(source.address)) return true
      return refused('over_rate', source)
    },
    admitsConnection: (source) => mayComeFrom(source) || refused('connection', source),
    expect: ({ address: written }) => {
      const address = canonicalAddress(written)
      expected.set(address, (expected.get(address) ?? 0) + 1)
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        const left = (expected.get(address) ?? 0) - 1
        if (left > 0) expected.set(address, left)
        else expected.delete(address)
      }
    },
  }
}
