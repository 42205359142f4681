import { BoundedMap } from '../runtime/bounded-map.ts'
import { canonicalAddress } from '../runtime/ip-address.ts'
import { sequenceDistance, type RtpPacket } from './packet.ts'

/**
 * Further addresses that the call's packets may come from; `any` for a symmetric trunk, whose SDP names an address
 * that never sends media.
 */
export type OtherSources = readonly string[] | 'any'

/** Decides which packets belong to the call. A source is an address and port. */
export interface Latch {
  /** The address in the SDP. A new one resets the latch. */
  declare(remote: MediaSource, others?: OtherSources): void
  /** Whether a packet is accepted. `isPlausible`: its payload type was negotiated. */
  accept(from: MediaSource, packet: Probe, isPlausible: boolean): boolean
  /** The latched source; fixed, except that a guessed one yields to the exact address in the SDP. */
  readonly source: MediaSource | undefined
}

export interface MediaSource {
  readonly address: string
  readonly port: number
}

type Probe = Pick<RtpPacket, 'ssrc' | 'sequenceNumber'>

/** Three packets of one SSRC in sequence make a source; a stray or a scan does not. */
const probationPackets = 3

/** Sequence numbers that a network may lose or swap within three packets. */
const maxSequenceGap = 10

/** Candidate sources at one time; the oldest is dropped. */
const maxCandidates = 4

/**
 * Latches to any port of the declared address, because a NAT may change it, or of the other addresses. The declared
 * address and port themselves are accepted from their first packet on, and from then on no other port may be
 * guessed.
 */
export const createLatch = (): Latch => {
  let declared: MediaSource | undefined
  let others: OtherSources = []
  let source: MediaSource | undefined
  let hasHeardDeclared = false
  const candidates = new BoundedMap<string, { packets: number; last: number }>({
    maxSize: maxCandidates,
  })

  const startOver = (): void => {
    source = undefined
    hasHeardDeclared = false
    candidates.clear()
  }

  const passesProbation = (from: MediaSource, { ssrc, sequenceNumber }: Probe): boolean => {
    const key = `${from.address} ${from.port} ${ssrc}`
    const before = candidates.get(key)
    const step = before === undefined ? 0 : sequenceDistance(before.last, sequenceNumber)
    const follows = step > 0 && step <= maxSequenceGap
    const packets = before !== undefined && follows ? before.packets + 1 : 1
    candidates.set(key, { packets, last: sequenceNumber })
    return packets >= probationPackets
  }

  const mayBecomeSource = (from: MediaSource): boolean => {
    if (isSame(from, declared)) return !isSame(source, declared)
    if (source !== undefined || hasHeardDeclared) return false
    return others === 'any' || from.address === declared?.address || others.includes(from.address)
  }

  return {
    declare(remote, given = []) {
      const next = { address: canonicalAddress(remote.address), port: remote.port }
      others = given === 'any' ? given : given.map(canonicalAddress)
      if (!isSame(next, declared)) startOver()
      declared = next
    },
    accept(from, packet, isPlausible) {
      if (!declared) return false
      if (isSame(from, source)) return true
      if (!mayBecomeSource(from)) return false
      const wasLatched = source !== undefined
      if (isPlausible && passesProbation(from, packet)) {
        source = { address: from.address, port: from.port }
        candidates.clear()
        return true
      }
      if (wasLatched || !isSame(from, declared)) return false
      hasHeardDeclared ||= isPlausible
      return true
    },
    get source() {
      return source
    },
  }
}

const isSame = (a: MediaSource | undefined, b: MediaSource | undefined): boolean =>
  a !== undefined && a.port === b?.port && a.address === b.address
