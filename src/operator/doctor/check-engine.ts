import { WebSocket } from 'ws'
import type { Config } from '../../config/read-config.ts'
import { addressOf, profileFor } from '../../conversation/engines/realtime/profiles.ts'
import { parseServerEvent } from '../../conversation/engines/realtime/protocol.ts'
import { failed, ok, type Finding } from './finding.ts'

type Engines = Config['engines']
type ServerName = Exclude<keyof Engines, 'kind'>

/** A server that conversations or summaries need, with the settings it is known by. */
interface Server {
  /** As its settings begin: `OUTDIAL_STT`. */
  readonly setting: string
  readonly isRealtime: boolean
  readonly url: string
  readonly key: string | undefined
  readonly model: string | undefined
}

/** How a server took the key; `status` is HTTP's, left out where the socket itself was closed. */
type Reaction =
  | { readonly kind: 'answered' | 'unreachable' }
  | { readonly kind: 'refused'; readonly status?: number }

const answerLimitMs = 5_000
/** A server may take the socket first and refuse the key then; one that is content says nothing or introduces itself. */
const secondThoughtMs = 1_000

const namesByEngine = {
  sandbox: [],
  realtime: ['realtime'],
  cascade: ['stt', 'llm', 'tts'],
} as const

/** Asks every AI provider in use whether it takes its key. One finding for each. */
export const checkEngine = async (engines: Engines): Promise<Finding[]> => {
  const servers = serversOf(engines)
  if (servers.length === 0)
    return [ok('engine', 'The scripted engine of the sandbox needs no provider.')]
  return Promise.all(servers.map(async (server) => tell(server, await ask(server))))
}

/** The chat server writes summaries too, whatever the engine. */
const serversOf = (engines: Engines): Server[] => {
  const names = new Set<ServerName>([...namesByEngine[engines.kind ?? 'sandbox'], 'llm'])
  return [...names].flatMap((name) => {
    const { url, key, model } = engines[name]
    if (url === undefined) return []
    const setting = `OUTDIAL_${name.toUpperCase()}`
    return [{ setting, isRealtime: name === 'realtime', url, key, model }]
  })
}

const tell = ({ setting, url, key }: Server, reaction: Reaction): Finding => {
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
  server.isRealtime ? knock(server) : listModels(server)

const reactionTo = (status: number): Reaction =>
  // Any other answer proves the way there; what it says depends on the provider.
  status === 401 || status === 403 ? { kind: 'refused', status } : { kind: 'answered' }

/** `GET …/models`: costs nothing, and every provider asks for the key first. */
const listModels = async ({ url, key }: Server): Promise<Reaction> => {
  try {
    const response = await fetch(`${url.replace(/\/$/, '')}/models`, {
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      // The key is for this host.
      redirect: 'manual',
      signal: AbortSignal.timeout(answerLimitMs),
    })
    await response.body?.cancel()
    return reactionTo(response.status)
  } catch {
    return { kind: 'unreachable' }
  }
}

/** A handshake as a call makes it, without a session. */
const knock = async ({ url, key, model }: Server): Promise<Reaction> => {
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
  let contentment: NodeJS.Timeout | undefined
  // Stays to the end: what is torn down below reports an error too.
  socket.on('error', () => reaction.resolve({ kind: 'unreachable' }))
  socket.on('unexpected-response', (_, { statusCode = 0 }) =>
    reaction.resolve(reactionTo(statusCode)),
  )
  socket.on('open', () => {
    contentment = setTimeout(() => reaction.resolve({ kind: 'answered' }), secondThoughtMs)
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
    clearTimeout(contentment)
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
