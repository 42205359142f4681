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
  /**
   * Whether a packet is accepted. `isPlausible`: its payload type was negotiated. `silentMs`: how long the call has
   * expected audio in vain.
   */
  accept(from: MediaSource, packet: Probe, isPlausible: boolean, silentMs?: number): boolean
  /**
   * The latched source. It is fixed while it sends, except that a guessed one yields to the exact address in the SDP.
   */
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

/** A source that is silent for this long may have moved: a NAT gave it another port, or another host took over. */
const rebindAfterMs = 2_000

/**
 * The same for what continues the stream itself, by its SSRC and sequence numbers, which a stranger does not know: a NAT
 * has taken another port in the middle of it. Longer than the pause of one lost or late burst of packets.
 */
const continuedAfterMs = 100

/** Sequence numbers that a stream may lose while its NAT rebinds: 5 s. */
const maxContinuedGap = 250

/** Candidate sources at one time; the oldest is dropped. */
const maxCandidates = 4

/**
 * Latches to any port of the declared address, because a NAT may change it, or of the other addresses. The declared
 * address and port themselves are accepted from their first packet on, and from then on no other port may be
 * guessed, until they are silent for `rebindAfterMs`, or for `continuedAfterMs` if the stream itself goes on elsewhere. What a source sends that the SDP has moved away from is never
 * accepted again.
 */
export const createLatch = (): Latch => {
  let declared: MediaSource | undefined
  let others: OtherSources = []
  let source: MediaSource | undefined
  let hasHeardDeclared = false
  let heard: Heard | undefined
  /** The stream before the latest move. */
  let retired: Heard | undefined
  const candidates = new BoundedMap<string, { packets: number; last: number }>({
    maxSize: maxCandidates,
  })

  const startOver = (): void => {
    retired = heard
    heard = undefined
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

  const isOfTheCall = ({ address }: MediaSource): boolean => {
    if (address === declared?.address || address === heard?.source.address) return true
    // On a symmetric trunk the first sender is taken, whoever it is; a later one must come from the same address.
    return others === 'any' ? heard === undefined : others.includes(address)
  }

  const continuesStream = ({ ssrc, sequenceNumber }: Probe): boolean => {
    if (ssrc !== heard?.ssrc) return false
    const step = sequenceDistance(heard.sequenceNumber, sequenceNumber)
    return step > 0 && step <= maxContinuedGap
  }

  const mayBecomeSource = (from: MediaSource, packet: Probe, silentMs: number): boolean => {
    if (isSame(from, declared)) return !isSame(source, declared)
    const neededMs = continuesStream(packet) ? continuedAfterMs : rebindAfterMs
    const isSilent = silentMs >= neededMs
    if (isSame(from, retired?.source) && (!isSilent || packet.ssrc === retired?.ssrc)) return false
    if ((source !== undefined || hasHeardDeclared) && !isSilent) return false
    return isOfTheCall(from)
  }

  const isAccepted = (
    from: MediaSource,
    packet: Probe,
    isPlausible: boolean,
    silentMs: number,
  ): boolean => {
    if (!declared) return false
    if (isSame(from, source)) return true
    if (!mayBecomeSource(from, packet, silentMs)) return false
    const wasLatched = source !== undefined
    if (isPlausible && passesProbation(from, packet)) {
      source = { address: from.address, port: from.port }
      candidates.clear()
      return true
    }
    if (wasLatched || !isSame(from, declared)) return false
    hasHeardDeclared ||= isPlausible
    return true
  }

  return {
    declare(remote, given = []) {
      const next = { address: canonicalAddress(remote.address), port: remote.port }
      others = given === 'any' ? given : given.map(canonicalAddress)
      if (!isSame(next, declared)) startOver()
      declared = next
    },
    accept(from, packet, isPlausible, silentMs = 0) {
      if (!isAccepted(from, packet, isPlausible, silentMs)) return false
      const { ssrc, sequenceNumber } = packet
      if (heard?.ssrc !== ssrc || !isSame(from, heard.source))
        heard = { source: { address: from.address, port: from.port }, ssrc, sequenceNumber }
      else if (sequenceDistance(heard.sequenceNumber, sequenceNumber) > 0)
        heard.sequenceNumber = sequenceNumber
      return true
    },
    get source() {
      return source
    },
  }
}

/** The stream that was accepted last. */
interface Heard {
  readonly source: MediaSource
  readonly ssrc: number
  /** The highest one. */
  sequenceNumber: number
}

const isSame = (a: MediaSource | undefined, b: MediaSource | undefined): boolean =>
  a !== undefined && a.port === b?.port && a.address === b.address
