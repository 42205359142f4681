import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { RowConversation } from './row-session.ts'
import type { ServerRow } from './server-row.ts'

export interface RowServer {
  readonly url: string
  /** Oldest first. */
  readonly sessions: readonly RowConversation[]
  /** How many sockets are open. */
  readonly openSockets: number
  close(): void
}

/** The phone rang this long before any audio came. */
const ringMs = 20_000

/** Listens on loopback as the server of this row. */
export const startRowServer = async (row: ServerRow): Promise<RowServer> => {
  const sessions: RowConversation[] = []
  const server = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    verifyClient: ({ req }: { req: IncomingMessage }) =>
      row.admits(new URL(req.url ?? '/', 'ws://row'), req.headers),
  })
  server.on('connection', (socket) => {
    const session = new RowConversation(row, (event) => socket.send(JSON.stringify(event)), ringMs)
    sessions.push(session)
    socket.on('message', (data: Buffer) => session.receive(data.toString('utf8')))
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const fragment = row.fragment === undefined ? '' : `#${row.fragment}`
  return {
    url: `ws://127.0.0.1:${port}/v1/realtime${fragment}`,
    sessions,
    get openSockets() {
      return server.clients.size
    },
    close() {
      for (const client of server.clients) client.terminate()
      server.close()
    },
  }
}
