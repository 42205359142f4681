import { canonicalAddress } from '../runtime/ip-address.ts'
import type { DialogTable } from './dialog-table.ts'
import type { DropCounter } from './drop-counter.ts'
import type { KnownCalls } from './known-calls.ts'
import type { SourceLimiter } from './source-limiter.ts'
import type { SipSources } from './sources.ts'
import type { Destination } from './transport.ts'

/** Decides from address and bytes, before anything is parsed, what is looked at. */
export interface RequestGate {
  /** Whether the message is worth parsing. What is not is counted here. */
  admits(bytes: Buffer, source: Destination): boolean
  /** Whether a connection from here is kept. */
  admitsConnection(source: Destination): boolean
  /** A client transaction waits for an answer from there, until the returned function is called. */
  expect(destination: Destination): () => void
}

export interface RequestGateOptions {
  readonly sources: SipSources
  readonly dialogs: Pick<DialogTable, 'hasPeer'>
  readonly known: KnownCalls
  /** Messages about no call of ours that one address may send. */
  readonly strays: SourceLimiter
  readonly drops: DropCounter
}

export const createRequestGate = (options: RequestGateOptions): RequestGate => {
  const { sources, dialogs, known, strays, drops } = options
  const expected = new Map<string, number>()
  const mayComeFrom = (source: Destination): boolean => {
    if (sources.admits(source)) return true
    const address = canonicalAddress(source.address)
    return expected.has(address) || dialogs.hasPeer(address)
  }
  const refused = (reason: Parameters<DropCounter['count']>[0]): false => {
    drops.count(reason)
    return false
  }
  return {
    admits: (bytes, source) => {
      if (!mayComeFrom(source)) return refused('stranger')
      // What is about a call of ours never waits behind a flood of what is not.
      if (known.mentions(bytes) || strays.admits(source.address)) return true
      return refused('over_rate')
    },
    admitsConnection: (source) => mayComeFrom(source) || refused('connection'),
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
