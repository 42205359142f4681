import { Agent as HttpAgent, request as requestHttp, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { requireSendable } from './outgoing-headers.ts'
import { lookupPublic, refusePrivateLiteral } from './public-lookup.ts'
import { BoundedMap } from './bounded-map.ts'

/** One request of a tenant. */
export interface OutboundRequest {
  readonly organizationId: string
  readonly url: URL
  readonly method: string
  /** The tenant's own; those of the connection are refused. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
  /** Whether private and loopback addresses may be reached. */
  readonly allowPrivateNetwork: boolean
}

export interface OutboundHttp {
  /**
   * Sends one request and resolves with the head of its response. Follows no redirect, and uses no proxy, whatever
   * the environment says: the checked address is the connected one. Rejects for network faults, private addresses
   * and headers of the connection.
   */
  send(request: OutboundRequest): Promise<IncomingMessage>
  /** Connections are closed, those in use too. */
  close(): void
}

/** Pools kept at one time; beyond, the one that was used longest ago goes once it is idle. */
const defaultMaxPools = 200
const maxSocketsOfPool = 32
const maxFreeSocketsOfPool = 4
/** Shorter than servers commonly keep an idle connection, so that it is we who close. */
const idleTimeoutMs = 4_000

type Pool = HttpAgent | HttpsAgent

/**
 * Requests over kept connections, one pool for each organization and origin: one tenant's data on a connection can
 * never meet a request of another. Our own agent ignores proxies (`NODE_USE_ENV_PROXY` is for Node's).
 */
export const createOutboundHttp = (maxPools = defaultMaxPools): OutboundHttp => {
  // Each use sets its pool anew, so that the one that makes room was used longest ago.
  const pools = new BoundedMap<string, Pool>({
    maxSize: maxPools,
    onEvicted: (_, pool) => forgetIdle(pool),
  })

  const poolOf = ({ organizationId, url, allowPrivateNetwork }: OutboundRequest): Pool => {
    const key = `${organizationId} ${allowPrivateNetwork} ${url.origin}`
    const pool = pools.get(key) ?? createPool(url)
    pools.set(key, pool)
    return pool
  }
  return {
    async send(request) {
      const { url, method, headers, body, signal, allowPrivateNetwork } = request
      if (!['http:', 'https:'].includes(url.protocol))
        throw new Error('Only http and https are served.')
      requireSendable(headers)
      if (!allowPrivateNetwork) refusePrivateLiteral(url)
      return sendOver(url, body, {
        agent: poolOf(request),
        method,
        headers: { ...headers },
        signal,
        ...(allowPrivateNetwork ? {} : { lookup: lookupPublic }),
      })
    },
    close() {
      for (const [, pool] of pools) pool.destroy()
      pools.clear()
    },
  }
}

/** A request that still runs keeps its connection; the pool forgets it afterwards. */
const forgetIdle = (pool: Pool): void => {
  pool.maxFreeSockets = 0
  for (const sockets of Object.values(pool.freeSockets))
    for (const socket of sockets ?? []) socket.destroy()
}

const createPool = ({ protocol }: URL): Pool => {
  const options = {
    keepAlive: true,
    maxSockets: maxSocketsOfPool,
    maxFreeSockets: maxFreeSocketsOfPool,
    timeout: idleTimeoutMs,
    scheduling: 'lifo',
  } as const
  return protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options)
}

const sendOver = (
  url: URL,
  body: string | undefined,
  options: Parameters<typeof requestHttp>[1],
): Promise<IncomingMessage> => {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    request(url, options, resolve).on('error', reject).end(body)
  })
}
