import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** A TCP connection of the harness from its own address. */
export const openConnection = async (
  port: number,
  localAddress = '127.0.0.1',
  timeoutMs = 5_000,
): Promise<Socket | undefined> => {
  const socket = connect({ host: '127.0.0.1', port, localAddress })
  socket.on('error', () => socket.destroy())
  const timer = setTimeout(() => socket.destroy(), timeoutMs)
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => undefined)
  clearTimeout(timer)
  return socket.destroyed ? undefined : socket
}

/** Sends these bytes and returns everything received until the connection closes or the time is over. */
export const exchange = async (
  port: number,
  bytes: string | Buffer,
  { localAddress = '127.0.0.1', timeoutMs = 2_000 } = {},
): Promise<{ readonly text: string; readonly isClosed: boolean }> => {
  const socket = await openConnection(port, localAddress)
  if (!socket) return { text: '', isClosed: true }
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  const closed = once(socket, 'close').then(
    () => true,
    () => true,
  )
  socket.write(bytes)
  const timer = Promise.withResolvers<false>()
  const handle = setTimeout(() => timer.resolve(false), timeoutMs)
  const isClosed = await Promise.race([closed, timer.promise])
  clearTimeout(handle)
  socket.destroy()
  return { text: Buffer.concat(chunks).toString('latin1'), isClosed }
}

/** How many responses a connection received. */
export const countResponses = (text: string): number =>
  text.match(/HTTP\/1\.[01] \d{3} /g)?.length ?? 0
