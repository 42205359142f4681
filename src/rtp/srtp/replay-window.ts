/** Which packets of one stream have come (RFC 3711 3.3.2). */
export interface ReplayWindow {
  /** Whether the packet of this index is new. Older ones than the window are not. */
  isNew(index: number): boolean
  /** Its tag was right. */
  accept(index: number): void
  /** The highest accepted index; -1 before the first. */
  readonly highest: number
}

/** RFC 3711 requires 64 at least; a late packet of a call in 20 ms frames is heard no more after 128. */
const windowSize = 128

export const createReplayWindow = (): ReplayWindow => {
  const seen = new Float64Array(windowSize).fill(-1)
  let highest = -1
  return {
    isNew: (index) => index > highest - windowSize && seen[index % windowSize] !== index,
    accept: (index) => {
      seen[index % windowSize] = index
      highest = Math.max(highest, index)
    },
    get highest() {
      return highest
    },
  }
}
