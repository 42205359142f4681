import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Attack } from '../stage/attack.ts'
import { openLiveCall } from '../stage/live-calls.ts'
import type { Stage } from '../stage/stage.ts'
import { openTenant, type Tenant } from '../stage/tenant.ts'

const body = '{"ok":true}'
const answer = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: keep-alive\r\n\r\n${body}`
const toolTimeoutMs = 9_000

/** Headers that define a request's end, or that belong to one connection. */
const framing = [
  { 'Content-Length': '60' },
  { 'transfer-encoding': 'chunked' },
  { Connection: 'close, x-secret' },
  { 'Keep-Alive': 'timeout=99' },
  { TE: 'trailers' },
  { Trailer: 'x' },
  { Upgrade: 'h2c' },
  { Expect: '100-continue' },
  { Host: 'another.example' },
  { 'Proxy-Authorization': 'Basic eA==' },
] as const

/** A tool's headers frame no request, and no two organizations share a connection to one server. */
export const toolFraming: Attack = {
  name: 'tool-framing',
  goal: 'framing headers are refused; organizations share no connection to a tool’s server',
  isLong: true,
  async run(stage) {
    const server = await openToolServer()
    try {
      const tenants = [
        await openTenant(stage.product, 'Tools A'),
        await openTenant(stage.product, 'Tools B'),
      ] as const
      const problems: string[] = []
      let refused = 0
      for (const headers of framing) {
        const { id } = await publish(tenants[0], server.port, headers)
        if (id === undefined) {
          refused += 1
          continue
        }
        problems.push(`${Object.keys(headers)[0]} was accepted by publish`)
      }
      await useTools(stage, tenants, server.port)
      const organizations = server.connections.map((seen) => new Set(seen.organizations))
      if (organizations.some((each) => each.size > 1))
        problems.push('two organizations shared a connection')
      const asked = new Set(organizations.flatMap((each) => [...each]))
      if (asked.size !== 2)
        problems.push(`the tools of ${asked.size} of 2 organizations were asked`)
      return {
        figure: `${refused} of ${framing.length} headers refused, ${server.connections.length} connections of ${asked.size} organizations`,
        problems,
      }
    } finally {
      server.close()
    }
  },
}

const publish = (tenant: Tenant, port: number, headers: object) =>
  tenant.publishAgent({
    tools: [
      {
        name: 'look_up',
        description: 'Looks up.',
        parameters: { type: 'object', properties: {} },
        method: 'GET',
        url: `http://127.0.0.1:${port}/tool`,
        headers,
      },
    ],
  })

/** Each organization's tool twice, alternating: with one pool the second would use the first's connection. */
const useTools = async (
  { trunk, engine, newNumber }: Stage,
  tenants: readonly Tenant[],
  port: number,
): Promise<void> => {
  const calls = []
  for (const tenant of tenants) {
    const { id: agentId } = await publish(tenant, port, { 'X-Organization': tenant.id })
    if (agentId !== undefined)
      calls.push(await openLiveCall({ trunk, engine, tenant, agentId }, newNumber()))
  }
  for (let round = 0; round < 2; round += 1)
    for (const { session } of calls)
      await Promise.race([session.callTool('look_up', {}), delay(toolTimeoutMs)])
  for (const { leg } of calls) await leg.request('BYE')
}

/** Responds to every request, and records which organization used which connection. */
const openToolServer = async () => {
  const connections: { readonly organizations: string[] }[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const seen = { organizations: [] as string[] }
    connections.push(seen)
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk: Buffer) => {
      const organization = /x-organization: (\S+)/i.exec(chunk.toString('latin1'))?.[1]
      if (organization !== undefined) seen.organizations.push(organization)
      socket.write(answer)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    connections,
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
