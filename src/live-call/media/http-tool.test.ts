import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, it } from 'node:test'
import { createOutboundHttp } from '../../runtime/outbound-http.ts'
import { askHttpTool, type HttpTool } from './http-tool.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

const outbound = createOutboundHttp()
after(() => outbound.close())

const ask = (tool: HttpTool, given: unknown, allowPrivateNetwork: boolean) =>
  askHttpTool(outbound, tool, given, {
    organizationId: 'one' as OrganizationId,
    allowPrivateNetwork,
  })

const withServer = async (
  handle: (request: IncomingMessage, response: ServerResponse) => void,
  work: (origin: string) => Promise<void>,
): Promise<void> => {
  const server = createServer(handle).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

const tool = (url: string, changes: Partial<HttpTool> = {}): HttpTool => ({
  name: 'look_up',
  method: 'POST',
  url,
  ...changes,
})

const echo = (request: IncomingMessage, response: ServerResponse): void => {
  request.setEncoding('utf8')
  let body = ''
  request.on('data', (chunk: string) => (body += chunk))
  request.on('end', () => {
    const { method, url, headers } = request
    response.end(JSON.stringify({ method, url, token: headers['x-token'], body }))
  })
}

describe('an HTTP tool', () => {
  it('sends its arguments as JSON, with its headers', () =>
    withServer(echo, async (origin) => {
      const answer = await ask(tool(`${origin}/a`, { headers: { 'x-token': 't' } }), { q: 1 }, true)
      assert.deepEqual(answer, {
        status: 200,
        body: { method: 'POST', url: '/a', token: 't', body: '{"q":1}' },
      })
    }))

  it('sends the arguments of a GET in the query, escaped', () =>
    withServer(echo, async (origin) => {
      const answer = await ask(tool(`${origin}/a?k=v`, { method: 'GET' }), { q: 'x&k=w' }, true)
      assert.deepEqual(answer.body, { method: 'GET', url: '/a?k=v&q=x%26k%3Dw', body: '' })
    }))

  it('puts the arguments named in its URL into path and query, and the others into the body', () =>
    withServer(echo, async (origin) => {
      const url = `${origin}/orders/{order}/items?of={customer}`
      const given = { order: '7/../8', customer: 'a&b=c', note: 'x' }
      assert.deepEqual((await ask(tool(url), given, true)).body, {
        method: 'POST',
        url: '/orders/7%2F..%2F8/items?of=a%26b%3Dc',
        body: '{"note":"x"}',
      })
      for (const order of [undefined, null, '', '.', '..']) {
        await assert.rejects(ask(tool(url), { ...given, order }, true), /argument order/)
      }
    }))

  it('puts any text into the query, also an empty one', () =>
    withServer(echo, async (origin) => {
      const note = tool(`${origin}/notes?text={text}`)
      for (const [text, query] of [
        ['', ''],
        ['..', '..'],
        ['{text}', '%7Btext%7D'],
        ['\ud800', '%EF%BF%BD'],
      ]) {
        const { body } = await ask(note, { text }, true)
        assert.equal((body as { url: string }).url, `/notes?text=${query}`)
      }
    }))

  it('takes no host from an argument', async () => {
    await assert.rejects(ask(tool('http://{host}/'), { host: '127.0.0.1' }, true))
  })

  it('returns text unchanged, and the status of a refusal', () =>
    withServer(
      (_request, response) => response.writeHead(404).end('no such customer'),
      async (origin) => {
        const answer = await ask(tool(origin), {}, true)
        assert.deepEqual(answer, { status: 404, body: 'no such customer' })
      },
    ))

  it('does not follow a redirect', () =>
    withServer(
      (_request, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
      async (origin) => {
        assert.equal((await ask(tool(origin), {}, true)).status, 302)
      },
    ))

  it('refuses a response that is too long', () =>
    withServer(
      (_request, response) => response.end('x'.repeat(70_000)),
      async (origin) => {
        await assert.rejects(ask(tool(origin), {}, true), /too long/)
      },
    ))

  it('gives up at its timeout', () =>
    withServer(
      () => undefined,
      async (origin) => {
        await assert.rejects(ask(tool(origin, { timeoutMs: 20 }), {}, true), {
          name: 'AbortError',
        })
      },
    ))

  it('never reaches a private network, by address or by name', () =>
    withServer(echo, async (origin) => {
      const byName = origin.replace('127.0.0.1', 'localhost')
      for (const url of [
        origin,
        byName,
        'http://[::1]:80/',
        'http://2130706433/',
        'ftp://example.org/',
      ]) {
        await assert.rejects(ask(tool(url), {}, false), /private network|Only http/, url)
      }
    }))
})
