import { WebSocket } from 'ws'
import type { Config } from '../../config/read-config.ts'
import { addressOf, profileFor } from '../../conversation/engines/realtime/profiles.ts'
import { parseServerEvent } from '../../conversation/engines/realtime/protocol.ts'
import { failed, ok, type Finding } from './finding.ts'

type Engines = Config['engines']
type ServerName = Exclude<keyof Engines, 'kind'>

/** A server that conversations or summaries need. */
interface Server {
  /** The prefix of its settings: `OUTDIAL_STT`. */
  readonly setting: string
  readonly isRealtime: boolean
  readonly url: string
  readonly key: string | undefined
  readonly model: string | undefined
}

/** The response of a server to the key. `status` is HTTP's; a closed WebSocket has none. */
type Reaction =
  | { readonly kind: 'answered' | 'unreachable' }
  | { readonly kind: 'refused'; readonly status?: number }

const answerLimitMs = 5_000
/** A server may refuse the key after it has accepted the socket. One that accepts the key stays silent or sends an event. */
const lateRefusalMs = 1_000

const namesByEngine = {
  sandbox: [],
  realtime: ['realtime'],
  cascade: ['stt', 'llm', 'tts'],
} as const

/** Checks that every AI provider in use accepts its key. Returns one finding for each. */
export const checkEngine = async (engines: Engines): Promise<Finding[]> => {
  const servers = serversOf(engines)
  if (servers.length === 0)
    return [ok('engine', 'The scripted engine of the sandbox needs no provider.')]
  return Promise.all(servers.map(async (server) => describe(server, await ask(server))))
}

/** The chat server also writes summaries, with any engine. */
const serversOf = (engines: Engines): Server[] => {
  const names = new Set<ServerName>([...namesByEngine[engines.kind ?? 'sandbox'], 'llm'])
  return [...names].flatMap((name) => {
    const { url, key, model } = engines[name]
    if (url === undefined) return []
    const setting = `OUTDIAL_${name.toUpperCase()}`
    return [{ setting, isRealtime: name === 'realtime', url, key, model }]
  })
}

const describe = ({ setting, url, key }: Server, reaction: Reaction): Finding => {
  const { host } = new URL(url)
  switch (reaction.kind) {
    case 'answered':
      return ok('engine', `The AI provider at ${host} answers (${setting}_URL).`)
    case 'unreachable':
      return failed(
        'engine',
        `The AI provider at ${host} cannot be reached: check ${setting}_URL, the network and the provider.`,
      )
    case 'refused': {
      const status = reaction.status === undefined ? '' : ` with ${reaction.status}`
      return failed(
        'engine',
        key === undefined
          ? `The AI provider at ${host} refuses us${status}: set ${setting}_KEY.`
          : `The AI provider at ${host} refuses the key${status}: set ${setting}_KEY to one that it takes.`,
      )
    }
  }
}

const ask = (server: Server): Promise<Reaction> =>
  server.isRealtime ? tryHandshake(server) : listModels(server)

const reactionTo = (status: number): Reaction =>
  // Any other status proves that the server is reachable; its meaning depends on the provider.
  status === 401 || status === 403 ? { kind: 'refused', status } : { kind: 'answered' }

/** `GET …/models` is free, and every provider checks the key first. */
const listModels = async ({ url, key }: Server): Promise<Reaction> => {
  try {
    const response = await fetch(`${url.replace(/\/$/, '')}/models`, {
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      // A redirect would send the key to another host.
      redirect: 'manual',
      signal: AbortSignal.timeout(answerLimitMs),
    })
    await response.body?.cancel()
    return reactionTo(response.status)
  } catch {
    return { kind: 'unreachable' }
  }
}

/** Opens the socket like a call, but no session. */
const tryHandshake = async ({ url, key, model }: Server): Promise<Reaction> => {
  const target = new URL(url)
  const { address, headers } = addressOf(target, profileFor(target), {
    ...(key !== undefined && { key }),
    ...(model !== undefined && { model }),
  })
  const socket = new WebSocket(address, {
    headers: { ...headers },
    handshakeTimeout: answerLimitMs,
    followRedirects: false,
  })
  const reaction = Promise.withResolvers<Reaction>()
  let acceptance: NodeJS.Timeout | undefined
  // The listener stays: `terminate` below may emit an error too.
  socket.on('error', () => reaction.resolve({ kind: 'unreachable' }))
  socket.on('unexpected-response', (_, { statusCode = 0 }) =>
    reaction.resolve(reactionTo(statusCode)),
  )
  socket.on('open', () => {
    acceptance = setTimeout(() => reaction.resolve({ kind: 'answered' }), lateRefusalMs)
  })
  socket.on('message', (data: Buffer) =>
    reaction.resolve({ kind: isRefusal(data) ? 'refused' : 'answered' }),
  )
  socket.on('close', (code) =>
    reaction.resolve({ kind: refusingCloseCodes.has(code) ? 'refused' : 'answered' }),
  )
  try {
    return await reaction.promise
  } finally {
    clearTimeout(acceptance)
    socket.terminate()
  }
}

/** Policy violation (RFC 6455), unauthorized and forbidden (IANA's registry of close codes). */
const refusingCloseCodes = new Set([1008, 3000, 3003])

const isRefusal = (data: Buffer): boolean => {
  const event = parseServerEvent(data.toString('utf8'))
  if (event?.type !== 'error') return false
  const { code, type } = event.error
  return /api_?key|auth|permission/i.test(`${code ?? ''} ${type ?? ''}`)
}
