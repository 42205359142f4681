import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer as readBytes } from 'node:stream/consumers'
import { WebSocketServer, type WebSocket } from 'ws'

/** How a provider misbehaves. */
export type ProviderFault =
  /** Refuses the key. */
  | 'expired_key'
  | 'throttled_with_time'
  | 'throttled'
  | 'broken'
  /** Accepts the connection and then never says a word. */
  | 'slow'
  /** Like `slow`, and answers no ping. */
  | 'half_open'
  /** Breaks off in the middle of its first answer. */
  | 'cut'
  /** Speaks something else. */
  | 'wrong_format'

const refusals: Partial<Record<ProviderFault, { status: number; headers?: object }>> = {
  expired_key: { status: 401 },
  throttled_with_time: { status: 429, headers: { 'retry-after': '2' } },
  throttled: { status: 429 },
  broken: { status: 500 },
}

/** One connection, as its side of the protocol sees it. */
export interface Peer {
  readonly request: IncomingMessage
  readonly fault: ProviderFault | undefined
  send(message: object): void
  sendBytes(bytes: Uint8Array): void
  close(code: number): void
  /** Calls this later; not once the connection has ended. */
  later(ms: number, work: () => void): void
}

export interface Face {
  onMessage(data: Buffer, isBinary: boolean): void
}

type Answer = (
  request: IncomingMessage,
  body: Buffer,
  response: ServerResponse,
  fault: ProviderFault | undefined,
) => void

export interface ScriptedProvider {
  /** Without a path. */
  readonly url: string
  /** The requests and handshakes so far, as `path?query`. */
  readonly requests: readonly string[]
  /** The headers of the same. */
  readonly headers: readonly IncomingMessage['headers'][]
  /** What clients sent as JSON. */
  readonly messages: readonly Record<string, unknown>[]
  /** Of all connections and requests from now on. */
  fault: ProviderFault | undefined
  /** Drops all connections with this close code. */
  drop(code: number): void
  stop(): void
}

interface ScriptedProviderOptions {
  readonly connect?: (peer: Peer) => Face
  readonly answer?: Answer
}

/** A server of speech on loopback that speaks as a provider's documentation says, or misbehaves on purpose. */
export const startProvider = async ({
  connect,
  answer,
}: ScriptedProviderOptions): Promise<ScriptedProvider> => {
  const requests: string[] = []
  const headers: IncomingMessage['headers'][] = []
  const messages: Record<string, unknown>[] = []
  const open = new Set<WebSocket>()
  const state: { fault: ProviderFault | undefined } = { fault: undefined }

  const note = (request: IncomingMessage): void => {
    requests.push(request.url ?? '')
    headers.push(request.headers)
  }
  const server = createServer((request, response) => {
    note(request)
    const { fault } = state
    const refusal = fault && refusals[fault]
    void readBytes(request).then((body) => {
      if (refusal)
        return response.writeHead(refusal.status, { ...refusal.headers }).end('{"error":{}}')
      if (fault === 'slow' || fault === 'half_open') return undefined
      return answer ? answer(request, body, response, fault) : response.writeHead(404).end()
    })
  })
  const sockets = new WebSocketServer({ noServer: true, autoPong: false })
  server.on('upgrade', (request, socket, head) => {
    note(request)
    const { fault } = state
    const refusal = fault && refusals[fault]
    if (refusal || !connect) {
      const more = Object.entries(refusal?.headers ?? {}).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      )
      socket.end(
        `HTTP/1.1 ${refusal?.status ?? 404} No\r\n${more.join('')}connection: close\r\n\r\n`,
      )
      return
    }
    sockets.handleUpgrade(request, socket, head, (peer) => serve(peer, request))
  })

  const serve = (socket: WebSocket, request: IncomingMessage): void => {
    open.add(socket)
    const timers = new Set<NodeJS.Timeout>()
    const sendRaw = (data: string | Uint8Array): void => {
      const { fault } = state
      if (fault === 'slow' || fault === 'half_open') return
      socket.send(fault === 'wrong_format' ? '<html>' : data)
    }
    const face = connect?.({
      request,
      get fault() {
        return state.fault
      },
      send: (message) => sendRaw(JSON.stringify(message)),
      sendBytes: sendRaw,
      close: (code) => socket.close(code),
      later: (ms, work) => void timers.add(setTimeout(work, ms)),
    })
    socket.on('ping', (data) => {
      if (state.fault !== 'half_open') socket.pong(data)
    })
    socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) messages.push(JSON.parse(data.toString('utf8')) as Record<string, unknown>)
      face?.onMessage(data, isBinary)
    })
    socket.on('close', () => {
      open.delete(socket)
      for (const timer of timers) clearTimeout(timer)
    })
    socket.on('error', () => undefined)
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    headers,
    messages,
    get fault() {
      return state.fault
    },
    set fault(fault) {
      state.fault = fault
    },
    drop(code) {
      for (const socket of open) socket.close(code)
    },
    stop() {
      for (const socket of open) socket.terminate()
      server.closeAllConnections()
      server.close()
    },
  }
}
