import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocketServer, WebSocket } from 'ws'

/** Faults between an engine and its server. Each happens to the first connection only, unless stated otherwise. */
export type Fault =
  | 'none'
  /** On every connection: the server begins a response just before our request, which it then refuses. */
  | 'active_response_race'
  /** On every connection: it reports that we truncated beyond the end of its audio. */
  | 'truncate_refused'
  | 'session_expired'
  /** On every connection: the audio of a response comes all at once, at its end. */
  | 'delta_burst'
  /** On every connection: words come before their audio, and the callee's words after the reply to them. */
  | 'reordered'
  /** From then on no message passes in either direction, and no ping gets a pong. */
  | 'half_open'
  /** The server is gone in the middle of its second response. */
  | 'gone_mid_sentence'

export interface FaultyProxy {
  readonly url: string
  readonly connections: () => number
  /** Codes of the errors that the server really sent. */
  readonly errorCodes: () => readonly string[]
  readonly stop: () => void
}

type Event = Readonly<Record<string, unknown>> & { readonly type: string }

const faultAfterMs = 4_000
const verbatimBegin =
  'Say exactly the following text, word for word, in its own language, and nothing else:\n\n'

export const startFaultyProxy = async (upstreamUrl: string, fault: Fault): Promise<FaultyProxy> => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, autoPong: false })
  const errorCodes: string[] = []
  let connections = 0

  server.on('connection', (client) => {
    connections += 1
    const isFirst = connections === 1
    const upstream = new WebSocket(upstreamUrl)
    const early: string[] = []
    const held: string[] = []
    let responses = 0
    let deltas = 0
    let isRaced = false
    let isDead = false

    const toServer = (text: string): void => {
      if (upstream.readyState === WebSocket.OPEN) upstream.send(text)
      else early.push(text)
    }
    const toClient = (text: string): void => {
      if (!isDead) client.send(text)
    }
    const release = (): void => {
      for (const text of held.splice(0)) toClient(text)
    }

    const onClientEvent = (text: string): void => {
      if (isDead) return
      const { type } = JSON.parse(text) as Event
      if (fault === 'active_response_race' && type === 'response.create' && !isRaced) {
        isRaced = true
        const response = {
          instructions: `${verbatimBegin}One second please, I am just getting my notes together here.`,
        }
        toServer(JSON.stringify({ type, response }))
      }
      if (fault === 'truncate_refused' && type === 'conversation.item.truncate') {
        const error = { type: 'invalid_request_error', code: 'invalid_value', message: 'Too long.' }
        return toClient(JSON.stringify({ type: 'error', error }))
      }
      toServer(text)
    }

    const onServerEvent = (text: string): void => {
      const event = JSON.parse(text) as Event
      if (event.type === 'error') errorCodes.push(String((event['error'] as Event)['code']))
      if (event.type === 'response.created') responses += 1
      if (event.type === 'response.output_audio.delta') deltas += 1
      if (fault === 'delta_burst') return burst(event, text)
      if (fault === 'reordered') return reorder(event, text)
      toClient(text)
      if (fault === 'gone_mid_sentence' && isFirst && responses === 2 && deltas > 3)
        client.terminate()
    }

    const burst = (event: Event, text: string): void => {
      if (event.type.startsWith('response.output_audio')) return void held.push(text)
      if (event.type === 'response.done') release()
      toClient(text)
    }

    /** The words of a response are sent at its beginning; the callee's words wait for the reply. */
    const reorder = (event: Event, text: string): void => {
      if (event.type === 'conversation.item.input_audio_transcription.completed') {
        return void held.push(text)
      }
      if (event.type === 'response.output_audio.done') return void held.push(text)
      toClient(text)
      if (event.type === 'response.done') release()
    }

    client.on('message', (data: Buffer) => onClientEvent(data.toString('utf8')))
    client.on('ping', () => {
      if (!isDead) client.pong()
    })
    client.on('close', () => upstream.close())
    client.on('error', () => upstream.close())
    upstream.on('open', () => {
      for (const text of early.splice(0)) upstream.send(text)
    })
    upstream.on('message', (data: Buffer) => onServerEvent(data.toString('utf8')))
    upstream.on('close', () => {
      if (!isDead) client.close()
    })
    upstream.on('error', () => client.terminate())
    if (!isFirst) return
    setTimeout(() => {
      if (fault === 'half_open') isDead = true
      if (fault !== 'session_expired') return
      const error = { type: 'invalid_request_error', code: 'session_expired', message: 'Too long.' }
      toClient(JSON.stringify({ type: 'error', error }))
      client.close(1001)
    }, faultAfterMs).unref()
  })
  await once(server, 'listening')
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/v1/realtime`,
    connections: () => connections,
    errorCodes: () => errorCodes,
    stop: () => {
      for (const client of server.clients) client.terminate()
      server.close()
    },
  }
}
