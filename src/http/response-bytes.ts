import type { ServerResponse } from 'node:http'

/** Buffers grow by this much, up to the maximum size of lists and transcripts. */
const stepBytes = 64 * 1024
const maxRoomBytes = 1024 * 1024

/** The memory of an unread response, where it differs from what its socket reports. */
export const heldBytes = new WeakMap<ServerResponse, number>()

let room: Buffer | undefined

/**
 * Ends a response with a long text. Its bytes are in a buffer that the next response reuses, unless the system did
 * not take all of them at once: then the buffer belongs to the response. A new buffer for each would be garbage
 * that is collected late, because most of it is outside of the heap.
 */
export const endWithText = (response: ServerResponse, text: string, bytes: number): void => {
  if (bytes > maxRoomBytes || response.socket?.writableLength !== 0)
    return void response.end(Buffer.from(text))
  const taken = room && room.length >= bytes ? room : makeRoom(bytes)
  taken.write(text)
  room = undefined
  // Before the end, which notifies observers.
  heldBytes.set(response, taken.length)
  response.end(taken.subarray(0, bytes))
  if (response.socket?.writableLength === 0) room = taken
}

const makeRoom = (bytes: number): Buffer =>
  Buffer.allocUnsafeSlow(Math.ceil(bytes / stepBytes) * stepBytes)
