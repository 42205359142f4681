import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import type pg from 'pg'

/**
 * One connection through the proxy, reported before the bytes are passed on. `pause` the server to hold back its
 * responses.
 */
export interface OverheardLink {
  fromClient(bytes: Buffer, server: Socket): void
  fromServer?(): void
}

export interface DatabaseProxy<Connection extends pg.ClientConfig = pg.ClientConfig> {
  /** The connection settings of the database. */
  readonly connection: Connection & { readonly host: string; readonly port: number }
  /** Ends its connections too. */
  stop(): void
}

/** A proxy between a client and a PostgreSQL server that listens on a socket file. */
export const startDatabaseProxy = async <Connection extends pg.ClientConfig>(
  connection: Connection,
  overhear: () => OverheardLink,
): Promise<DatabaseProxy<Connection>> => {
  const upstream = join(connection.host ?? '', `.s.PGSQL.${connection.port}`)
  const clients = new Set<Socket>()
  const proxy = createServer((client) => {
    const server = connect(upstream)
    const link = overhear()
    clients.add(client)
    client.on('data', (bytes) => {
      link.fromClient(bytes, server)
      server.write(bytes)
    })
    server.on('data', (bytes) => {
      link.fromServer?.()
      client.write(bytes)
    })
    client.on('error', () => {}).on('close', () => clients.delete(client) && server.destroy())
    server.on('error', () => {}).on('close', () => client.destroy())
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port } = proxy.address() as AddressInfo
  return {
    connection: { ...connection, host: '127.0.0.1', port },
    stop() {
      proxy.close()
      for (const client of clients) client.destroy()
    },
  }
}
