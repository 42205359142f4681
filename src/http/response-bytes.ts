import type { ServerResponse } from 'node:http'

/** Rooms grow by this much, up to what lists and transcripts take at most. */
const stepBytes = 64 * 1024
const maxRoomBytes = 1024 * 1024

/** What an answer holds in memory while it is not read, where that is not what its socket tells. */
export const heldBytes = new WeakMap<ServerResponse, number>()

let room: Buffer | undefined

/**
 * Ends an answer with a long text. Its bytes stand in a room that the next answer takes again, unless the system did not
 * take all of them at once: then the room is the answer's. A buffer for each would be garbage that nobody hurries to
 * collect, since most of it lies outside of the heap.
 */
export const endWithText = (response: ServerResponse, text: string, bytes: number): void => {
  if (bytes > maxRoomBytes || response.socket?.writableLength !== 0)
    return void response.end(Buffer.from(text))
  const taken = room && room.length >= bytes ? room : makeRoom(bytes)
  taken.write(text)
  room = undefined
  // Before the end, which tells those who look.
  heldBytes.set(response, taken.length)
  response.end(taken.subarray(0, bytes))
  if (response.socket?.writableLength === 0) room = taken
}

const makeRoom = (bytes: number): Buffer =>
  Buffer.allocUnsafeSlow(Math.ceil(bytes / stepBytes) * stepBytes)
