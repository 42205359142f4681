import { createSocket, type RemoteInfo } from 'node:dgram'
import { EventEmitter, once } from 'node:events'
import { cseqOf, tagOf } from '../../../src/sip/message/headers.ts'
import {
  emptyBody,
  headerOf,
  serializeMessage,
  type SipMessage,
  type SipRequest,
} from '../../../src/sip/message/message.ts'
import { parseMessage } from '../../../src/sip/message/parse-message.ts'
import {
  createResponse,
  newBranch,
  type ResponseOptions,
} from '../../../src/sip/message/responses.ts'

/** Longer than any message of a test takes, also on a busy machine. */
const patienceMs = 60_000

/** A SIP peer without logic: a test reads received messages and writes any others, one datagram at a time. */
export interface ScriptedPeer {
  readonly port: number
  readonly target: string
  /** Everything received so far, as methods and status codes. */
  readonly heard: readonly string[]
  /** The same without repetitions, which a busy machine causes. */
  readonly heardOnce: readonly string[]
  /** Waits for the next message not yet taken with this method or status code (`200 BYE`), repetitions apart. */
  next(what: string): Promise<SipMessage>
  /** Waits for the next repetition, byte by byte, of such a message. */
  nextRepeated(what: string): Promise<SipMessage>
  /** The same for a request. */
  nextRequest(method: string): Promise<SipRequest>
  reply(request: SipRequest, status: number, options?: ResponseOptions): void
  send(message: SipMessage): void
  /** Sends a request inside the dialog that our 2xx to `invite` made; `tag` is the tag we answered with. */
  request(method: string, invite: SipRequest, options: RequestOptions): SipRequest
  close(): Promise<void>
}

export interface RequestOptions {
  readonly tag: string
  readonly sequence: number
  readonly headers?: SipRequest['headers']
  readonly body?: string
}

const describe = (message: SipMessage): string =>
  message.kind === 'request' ? message.method : `${message.status} ${cseqOf(message).method}`

/** `firstPort`: where it may write before it was written to. */
export const openScriptedPeer = async (firstPort?: number): Promise<ScriptedPeer> => {
  const socket = createSocket('udp4')
  const waiting: SipMessage[] = []
  const repeated: SipMessage[] = []
  const seen = new Set<string>()
  const heard: string[] = []
  const heardOnce: string[] = []
  const arrivals = new EventEmitter()
  let other: Pick<RemoteInfo, 'address' | 'port'> | undefined =
    firstPort === undefined ? undefined : { address: '127.0.0.1', port: firstPort }
  socket.on('message', (bytes, remote) => {
    const parsed = parseMessage(bytes)
    if (!parsed.ok) return
    other = remote
    const text = bytes.toString('latin1')
    const what = describe(parsed.message)
    heard.push(what)
    if (!seen.has(text)) heardOnce.push(what)
    ;(seen.has(text) ? repeated : waiting).push(parsed.message)
    seen.add(text)
    arrivals.emit('message')
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()

  const send = (message: SipMessage): void => {
    if (other === undefined) throw new Error('nobody wrote to this peer yet')
    socket.send(serializeMessage(message), other.port, other.address)
  }
  const take = async (queue: SipMessage[], what: string): Promise<SipMessage> => {
    for (;;) {
      const at = queue.findIndex((message) => describe(message) === what)
      const [found] = at < 0 ? [] : queue.splice(at, 1)
      if (found !== undefined) return found
      await once(arrivals, 'message', { signal: AbortSignal.timeout(patienceMs) })
    }
  }
  return {
    port,
    target: `sip:+12025550100@127.0.0.1:${port}`,
    heard,
    heardOnce,
    next: (what) => take(waiting, what),
    nextRepeated: (what) => take(repeated, what),
    nextRequest: async (method) => {
      const message = await take(waiting, method)
      if (message.kind !== 'request') throw new Error(`${method} is no request`)
      return message
    },
    reply: (request, status, options = {}) => {
      const contact = ['contact', `<sip:peer@127.0.0.1:${port}>`] as const
      send(
        createResponse(request, status, {
          ...options,
          headers: [contact, ...(options.headers ?? [])],
        }),
      )
    },
    send,
    request: (method, invite, options) => {
      const request = dialogRequest(method, invite, options, port)
      send(request)
      return request
    },
    close: async () => {
      socket.close()
      await once(socket, 'close')
    },
  }
}

const dialogRequest = (
  method: string,
  invite: SipRequest,
  { tag, sequence, headers = [], body }: RequestOptions,
  port: number,
): SipRequest => ({
  kind: 'request',
  method,
  uri: /<([^>]+)>/.exec(headerOf(invite, 'contact') ?? '')?.[1] ?? 'sip:nobody@127.0.0.1',
  headers: [
    ['via', `SIP/2.0/UDP 127.0.0.1:${port};branch=${newBranch()};rport`],
    ['max-forwards', '70'],
    ['from', `${headerOf(invite, 'to') ?? ''};tag=${tag}`],
    ['to', headerOf(invite, 'from') ?? ''],
    ['call-id', headerOf(invite, 'call-id') ?? ''],
    ['cseq', `${sequence} ${method}`],
    ['contact', `<sip:peer@127.0.0.1:${port}>`],
    ...headers,
    ...(body === undefined ? [] : [['content-type', 'application/sdp'] as const]),
  ],
  body: body === undefined ? emptyBody : Buffer.from(body),
})

/** The tag a response gave its dialog. */
export const toTagOf = (message: SipMessage): string => tagOf(message, 'to') ?? ''
