import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'
import { serveEngineSession, type EngineSession } from './engine-session.ts'

/**
 * A voice engine of the harness behind the Realtime protocol. It reports whose audio it hears, keeps a call alive
 * with words of the callee, and calls the tools that an attack needs.
 */
export interface Engine {
  /** The value of OUTDIAL_REALTIME_URL. */
  readonly url: string
  readonly sessions: readonly EngineSession[]
  /** The latest session of the line that an agent's prompt named, once it exists. */
  sessionOf(line: string, timeoutMs?: number): Promise<EngineSession>
  close(): void
}

export const openEngine = async (): Promise<Engine> => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, maxPayload: 4 * 1024 * 1024 })
  const sessions: EngineSession[] = []
  const waiting = new Set<() => void>()
  server.on('connection', (socket) => {
    const session = serveEngineSession(socket, () => {
      for (const wake of waiting) wake()
    })
    sessions.push(session)
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `ws://127.0.0.1:${port}/v1/realtime#openai`,
    sessions,
    sessionOf: (line, timeoutMs = 60_000) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found = sessions.findLast((session) => session.line === line)
          if (!found) return
          clearTimeout(timer)
          waiting.delete(look)
          resolve(found)
        }
        const timer = setTimeout(() => {
          waiting.delete(look)
          reject(new Error(`No voice session for ${line} began within ${timeoutMs} ms.`))
        }, timeoutMs)
        waiting.add(look)
        look()
      }),
    close: () => {
      for (const session of sessions) session.close()
      for (const client of server.clients) client.terminate()
      server.close()
    },
  }
}
