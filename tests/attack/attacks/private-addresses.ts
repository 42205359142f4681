import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Attack } from '../stage/attack.ts'
import { openLiveCall, type LiveCall } from '../stage/live-calls.ts'
import { openTenant } from '../stage/tenant.ts'

const toolTimeoutMs = 9_000

/** This machine, and the metadata service of a cloud, as a tenant might write them. */
const hosts = [
  '127.0.0.1',
  'localhost',
  'LOCALHOST.',
  '127.1',
  '0x7f.1',
  '0177.0.0.1',
  '2130706433',
  '0.0.0.0',
  '127.66.0.1',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[0:0:0:0:0:ffff:7f00:1]',
  '169.254.169.254',
  '10.0.0.1',
  '１２７.０.０.１',
] as const

/** No notation of a private address leads a tenant's tool there, nor does a proxy of the environment. */
export const privateAddresses: Attack = {
  name: 'private-addresses',
  goal: 'no spelling of a private address is connected to, no proxy of the environment is asked',
  isLong: true,
  async run(stage) {
    const target = await openTrap()
    const proxy = await openTrap()
    const product = await stage.startAnother({
      settings: { ...stage.settings, OUTDIAL_ALLOW_PRIVATE_NETWORK: '0' },
      environment: {
        NODE_USE_ENV_PROXY: '1',
        HTTP_PROXY: `http://127.0.0.1:${proxy.port}`,
        http_proxy: `http://127.0.0.1:${proxy.port}`,
        NO_PROXY: '',
        no_proxy: '',
      },
    })
    try {
      const { trunk, engine } = stage
      const tenant = await openTenant(product, 'Curious')
      const urls = [...hosts.map((host) => `http://${host}:${target.port}/`), 'http://192.0.2.1/']
      const results: string[] = []
      let refused = 0
      for (let at = 0; at < urls.length; at += toolsPerAgent) {
        const some = urls.slice(at, at + toolsPerAgent)
        const kept: string[] = []
        for (const url of some) {
          const { id } = await tenant.publishAgent({ tools: [toolAt(url, 0)] })
          if (id === undefined) refused += 1
          else kept.push(url)
        }
        const { id: agentId } = await tenant.publishAgent({ tools: kept.map(toolAt) })
        if (agentId === undefined || kept.length === 0) continue
        const parts = { trunk, engine, tenant, agentId }
        const call = await openLiveCall(parts, stage.newNumber())
        results.push(...(await useTools(call, kept.length)))
        await call.leg.request('BYE')
      }
      const reached = results.filter((result) => result.includes('"status":200')).length
      const problems = [
        ...(target.count() > 0 ? [`${target.count()} connections to a private address`] : []),
        ...(proxy.count() > 0
          ? [`the proxy of the environment was asked ${proxy.count()} times`]
          : []),
        ...(reached > 0 ? [`${reached} tools got an answer`] : []),
      ]
      return { figure: `${hosts.length} spellings, ${refused} refused at publish`, problems }
    } finally {
      await product.stop()
      target.close()
      proxy.close()
    }
  },
}

const toolsPerAgent = 8

const toolAt = (url: string, index: number): object => ({
  name: `tool_${index}`,
  description: 'Asks.',
  parameters: { type: 'object', properties: {} },
  method: 'GET',
  url,
  timeout_ms: 1_000,
})

const useTools = ({ session }: LiveCall, count: number): Promise<string[]> =>
  Promise.all(
    Array.from({ length: count }, (_, index) =>
      Promise.race([
        session.callTool(`tool_${index}`, {}),
        delay(toolTimeoutMs).then(() => 'no answer'),
      ]),
    ),
  )

/** Counts connections, on both versions of IP. */
const openTrap = async () => {
  let connections = 0
  const listen = async (host: string, port: number): Promise<Server | undefined> => {
    const server = createServer((socket) => {
      connections += 1
      socket.on('error', () => socket.destroy())
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}')
    })
    server.listen(port, host)
    return once(server, 'listening').then(
      () => server,
      () => undefined,
    )
  }
  const first = await listen('0.0.0.0', 0)
  if (!first) throw new Error('No port is free.')
  const { port } = first.address() as AddressInfo
  // A machine without IPv6 has no IPv6 target either.
  const second = await listen('::1', port)
  return {
    port,
    count: () => connections,
    close: () => {
      first.close()
      second?.close()
    },
  }
}
