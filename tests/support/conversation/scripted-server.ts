import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer as readBytes } from 'node:stream/consumers'

export interface Received {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/** A server that handles one request after the other, each as the test scripts it. */
export const withServer = async (
  answers: ((response: ServerResponse) => void)[],
  work: (url: string, received: Received[]) => Promise<void>,
): Promise<void> => {
  const received: Received[] = []
  const server = createServer((request, response) => {
    void readBytes(request).then((body) => {
      received.push({ path: request.url ?? '', headers: request.headers, body })
      answers.shift()?.(response)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, received)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

export const json =
  (body: object, status = 200) =>
  (response: ServerResponse): void =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(body))
