import type { IncomingMessage } from 'node:http'

/** The memory of all incomplete small bodies together. */
const maxArrivingBytes = 16 * 1024 * 1024

interface Arriving {
  readonly organizationId: string
  readonly bytes: number
  /** Drops the body: its request is refused. */
  readonly cut: () => void
}

interface ArrivingBodies {
  note(request: IncomingMessage, arriving: Arriving): void
  delete(request: IncomingMessage): void
}

/**
 * Limits the memory of incomplete small bodies. Beyond it, the organization with the most of them loses its oldest
 * one, so that slow bodies of one cost the others nothing.
 */
export const createArrivingBodies = (maxBytes = maxArrivingBytes): ArrivingBodies => {
  // Insertion order is the order of arrival.
  const bodies = new Map<IncomingMessage, Arriving>()
  let total = 0

  const remove = (request: IncomingMessage): void => {
    total -= bodies.get(request)?.bytes ?? 0
    bodies.delete(request)
  }
  const cutOne = (): void => {
    const greatest = greatestOf(bodies.values())
    for (const [request, { organizationId, cut }] of bodies) {
      if (organizationId !== greatest) continue
      remove(request)
      return cut()
    }
  }
  return {
    note(request, arriving) {
      total += arriving.bytes - (bodies.get(request)?.bytes ?? 0)
      bodies.set(request, arriving)
      while (total > maxBytes) cutOne()
    },
    delete: remove,
  }
}

const greatestOf = (bodies: Iterable<Arriving>): string | undefined => {
  const sums = new Map<string, number>()
  for (const { organizationId, bytes } of bodies)
    sums.set(organizationId, (sums.get(organizationId) ?? 0) + bytes)
  let greatest: readonly [string, number] | undefined
  for (const sum of sums) if (!greatest || sum[1] > greatest[1]) greatest = sum
  return greatest?.[0]
}

/** Initial size when the first piece is not the last. */
const firstRoomBytes = 16 * 1024

/**
 * Joins pieces in one growing buffer: a body in pieces of one byte would otherwise cost a hundred times its size.
 */
export const gatherBytes = () => {
  let room: Buffer | undefined
  let filled = 0
  return {
    length: () => filled,
    add(piece: Buffer): void {
      // Usually there is one piece, and it is kept as it is.
      if (!room) room = piece
      else {
        if (filled + piece.length > room.length) room = grown(room, filled, filled + piece.length)
        piece.copy(room, filled)
      }
      filled += piece.length
    },
    bytes: () => (room ?? Buffer.alloc(0)).subarray(0, filled),
  }
}

const grown = (room: Buffer, filled: number, needed: number): Buffer => {
  const next = Buffer.allocUnsafeSlow(Math.max(firstRoomBytes, 2 * room.length, needed))
  room.copy(next, 0, 0, filled)
  return next
}
