/** Decides whose packets are the call's. A source is somebody's address and port. */
export interface Latch {
  /** The address the SDP named. A new one starts over. */
  declare(remote: Source): void
  /** Whether a packet is to be heard. */
  accept(from: Source, ssrc: number): boolean
  /** The latched source; frozen, except that a guessed one yields to the very address the SDP named. */
  readonly source: Source | undefined
}

export interface Source {
  readonly address: string
  readonly port: number
}

/** Three packets of one SSRC make a source; a stray or a scan does not. */
const probationPackets = 3

/** Strangers on probation at one time; the oldest makes room. */
const maxCandidates = 4

/**
 * `declared` latches to any port of the SDP's address, `symmetric` to anyone: behind a NAT the SDP names an address that
 * nobody can reach. Before anything is latched, the SDP's exact address and port are heard from their first packet on.
 */
export const createLatch = (policy: 'declared' | 'symmetric'): Latch => {
  let declared: Source | undefined
  let source: Source | undefined
  const candidates = new Map<string, number>()

  const startOver = (): void => {
    source = undefined
    candidates.clear()
  }

  const passesProbation = (from: Source, ssrc: number): boolean => {
    const key = `${from.address} ${from.port} ${ssrc}`
    const packets = (candidates.get(key) ?? 0) + 1
    candidates.delete(key)
    candidates.set(key, packets)
    if (candidates.size > maxCandidates) candidates.delete(candidates.keys().next().value!)
    return packets >= probationPackets
  }

  const mayBecomeSource = (from: Source): boolean => {
    if (source) return isSame(from, declared) && !isSame(source, declared)
    return policy === 'symmetric' || from.address === declared?.address
  }

  return {
    declare(remote) {
      if (!isSame(remote, declared)) startOver()
      declared = { address: remote.address, port: remote.port }
    },
    accept(from, ssrc) {
      if (!declared) return false
      if (isSame(from, source)) return true
      if (!mayBecomeSource(from)) return false
      const wasLatched = source !== undefined
      if (passesProbation(from, ssrc)) {
        source = { address: from.address, port: from.port }
        candidates.clear()
        return true
      }
      return !wasLatched && isSame(from, declared)
    },
    get source() {
      return source
    },
  }
}

const isSame = (a: Source, b: Source | undefined): boolean =>
  a.port === b?.port && a.address === b.address
