import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { TestContext } from 'node:test'

/** A bare UDP socket on a loopback address: a scanner, or a trunk's other interface. */
export interface RawSocket {
  readonly address: string
  readonly port: number
  /** First lines of all received messages. */
  readonly heard: readonly string[]
  /** Resolves when the datagram left. */
  send(text: string | Buffer, port: number): Promise<void>
  /** Resolves when `heard` has as many entries. */
  heardAtLeast(count: number): Promise<void>
}

export const openRawSocket = async (
  context: TestContext,
  address: string,
  port = 0,
): Promise<RawSocket> => {
  const socket = createSocket('udp4')
  const heard: string[] = []
  socket.on('message', (bytes) => heard.push(bytes.toString('latin1').split('\r\n')[0] ?? ''))
  socket.bind(port, address)
  await once(socket, 'listening')
  context.after(async () => {
    socket.close()
    await once(socket, 'close')
  })
  return {
    address,
    port: socket.address().port,
    heard,
    send: (text, to) =>
      new Promise((resolve, reject) => {
        socket.send(text, to, '127.0.0.1', (error) => {
          if (error === null) resolve()
          else reject(error)
        })
      }),
    heardAtLeast: async (count) => {
      while (heard.length < count)
        await once(socket, 'message', { signal: AbortSignal.timeout(60_000) })
    },
  }
}

export interface RawRequest {
  readonly method: string
  readonly from: RawSocket
  readonly sipCallId?: string
  readonly fromTag?: string
  readonly toTag?: string
  readonly branch?: string
  readonly sequence?: number
}

let made = 0

/** A well-formed request in the style of a scanner, by default with its own branch and Call-ID. */
export const rawRequest = (request: RawRequest): string => {
  made += 1
  const { method, from, sipCallId = `call-${made}@scan`, fromTag = `f${made}` } = request
  const { branch = `z9hG4bKraw${made}`, sequence = 1, toTag } = request
  return [
    `${method} sip:outdial@127.0.0.1 SIP/2.0`,
    `Via: SIP/2.0/UDP ${from.address}:${from.port};branch=${branch};rport`,
    'Max-Forwards: 70',
    `From: <sip:a@${from.address}>;tag=${fromTag}`,
    `To: <sip:b@127.0.0.1>${toTag === undefined ? '' : `;tag=${toTag}`}`,
    `Call-ID: ${sipCallId}`,
    `CSeq: ${sequence} ${method}`,
    `Contact: <sip:a@${from.address}:${from.port}>`,
    'Content-Length: 0',
    '',
    '',
  ].join('\r\n')
}
