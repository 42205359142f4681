import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Browser } from './composed-console.ts'

/** A WebSocket of a browser: what came, and how it ended. */
export const openConsoleSocket = (
  url: string,
  ticket: string,
  headers: { readonly cookie?: string | undefined; readonly origin?: string | undefined },
) => {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/console/audio?ticket=${ticket}`, {
    headers: {
      ...(headers.cookie !== undefined && { cookie: headers.cookie }),
      ...(headers.origin !== undefined && { origin: headers.origin }),
    },
  })
  const refused = Promise.withResolvers<number>()
  const closed = Promise.withResolvers<number>()
  socket.once('unexpected-response', (request, response) => {
    refused.resolve(response.statusCode ?? 0)
    response.resume()
    request.destroy()
  })
  socket.once('close', (code) => closed.resolve(code))
  // What follows shows in `refused` and `closed`.
  socket.on('error', () => undefined)
  return {
    socket,
    /** The status of a handshake that was refused. */
    refused: refused.promise,
    /** The code of the close. */
    closed: closed.promise,
    opened: once(socket, 'open'),
    nextBytes: async (): Promise<Buffer> => {
      const [data] = (await once(socket, 'message')) as [Buffer]
      return data
    },
  }
}

export const credentialsOf = (browser: Browser, origin: string) => ({
  cookie: browser.cookie,
  origin,
})
