import { strangerAddress } from '../stage/addresses.ts'
import type { Attack } from '../stage/attack.ts'
import { countResponses, exchange } from '../stage/http-connection.ts'

const hidden = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'
const chunked = `0\r\n\r\n${hidden}`
const host = 'Host: 127.0.0.1\r\n'

/** Requests whose end two readers could place differently, each followed by another one. */
const requests: Readonly<Record<string, string>> = {
  'HTTP/1.0 with Transfer-Encoding': `POST /calls HTTP/1.0\r\n${host}Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n${chunked}`,
  'HTTP/1.0 with both lengths': `POST /calls HTTP/1.0\r\n${host}Transfer-Encoding: chunked\r\nContent-Length: ${chunked.length}\r\nConnection: keep-alive\r\n\r\n${chunked}`,
  'HTTP/1.0 GET with Transfer-Encoding': `GET /calls HTTP/1.0\r\n${host}Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n${chunked}`,
  'both lengths': `POST /calls HTTP/1.1\r\n${host}Content-Length: ${chunked.length}\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`,
  'two lengths': `POST /calls HTTP/1.1\r\n${host}Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
  'a list of lengths': `POST /calls HTTP/1.1\r\n${host}Content-Length: 0, ${hidden.length}\r\n\r\n${hidden}`,
  'a signed length': `POST /calls HTTP/1.1\r\n${host}Content-Length: +0\r\n\r\n${hidden}`,
  'a space before the colon': `POST /calls HTTP/1.1\r\n${host}Transfer-Encoding : chunked\r\n\r\n${chunked}`,
  'an unknown coding': `POST /calls HTTP/1.1\r\n${host}Transfer-Encoding: xchunked\r\n\r\n${chunked}`,
  'a coding twice': `POST /calls HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n${chunked}`,
  'a vertical tab': `POST /calls HTTP/1.1\r\n${host}Transfer-Encoding:\x0bchunked\r\n\r\n${chunked}`,
  'a folded coding': `POST /calls HTTP/1.1\r\n${host}Transfer-Encoding:\r\n chunked\r\n\r\n${chunked}`,
  'bare line feeds': `POST /calls HTTP/1.1\n${host}Transfer-Encoding: chunked\n\n${chunked}`,
  'a bare carriage return': `POST /calls HTTP/1.1\r\n${host}X: a\rTransfer-Encoding: chunked\r\n\r\n${chunked}`,
  'a chunk size with a sign': `POST /calls HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n+0\r\n\r\n${hidden}`,
  'a chunk ended by a line feed': `POST /calls HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n1\na\n0\n\n${hidden}`,
}

/** Data after a request of ambiguous length is never served. */
export const httpSmuggling: Attack = {
  name: 'http-smuggling',
  goal: 'a request of doubtful framing is refused and its connection closed',
  async run({ product }) {
    const answers = await Promise.all(
      Object.entries(requests).map(async ([name, bytes]) => {
        const localAddress = strangerAddress(80)
        return { name, ...(await exchange(product.home.apiPort, bytes, { localAddress })) }
      }),
    )
    const problems = answers.flatMap(({ name, text, isClosed }) => [
      ...(countResponses(text) > 1 ? [`${name}: the hidden request was served`] : []),
      ...(isClosed ? [] : [`${name}: the connection stays open`]),
    ])
    const plain = await exchange(product.home.apiPort, hidden + hidden, {
      localAddress: strangerAddress(81),
    })
    // Two valid ones prove that hidden ones would have been counted.
    if (countResponses(plain.text) !== 2) problems.push('two honest requests got no two answers')
    return { figure: `${answers.length} framings`, problems }
  },
}
