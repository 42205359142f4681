import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, mock } from 'node:test'
import { WebSocketServer, type WebSocket } from 'ws'
import { silentLogger } from '../../../src/runtime/logger.ts'
import type { VoiceEvent, VoiceSession } from '../../../src/conversation/engine/voice-engine.ts'
import {
  createRealtimeEngine,
  type RealtimeEngineSettings,
} from '../../../src/conversation/engines/realtime/realtime-engine.ts'
import { g711Wire } from '../../../src/conversation/engines/realtime/wire-audio.ts'

type Message = Record<string, unknown>

/** A server that does only what the test orders: a new one for each test of the file. */
export const useControlledServer = () => {
  let server: WebSocketServer
  let socket: WebSocket
  let headers: Record<string, unknown>
  let path: string
  let received: Message[]
  let connections: number
  let onSessionUpdate: () => void
  let wake: () => void

  const tell = (event: object): void => socket.send(JSON.stringify(event))

  beforeEach(async () => {
    received = []
    connections = 0
    wake = () => {}
    onSessionUpdate = () => tell({ type: 'session.updated', session: {} })
    server = new WebSocketServer({ host: '127.0.0.1', port: 0, autoPong: false })
    server.on('connection', (connected, request) => {
      socket = connected
      connections += 1
      tell({ type: 'session.created', session: { type: 'realtime', object: 'realtime.session' } })
      headers = request.headers
      path = request.url ?? ''
      socket.on('message', (data: Buffer) => {
        const event = JSON.parse(data.toString('utf8')) as Message
        received.push(event)
        if (event.type === 'session.update') onSessionUpdate()
        wake()
      })
    })
    await once(server, 'listening')
  })

  afterEach(() => {
    mock.timers.reset()
    for (const client of server.clients) client.terminate()
    server.close()
  })

  const url = (): string => `ws://127.0.0.1:${(server.address() as AddressInfo).port}/v1/realtime`

  const open = (
    settings: Partial<RealtimeEngineSettings> = {},
    greeting = '',
  ): Promise<VoiceSession> =>
    createRealtimeEngine({
      url: url(),
      wireFormat: g711Wire,
      logger: silentLogger,
      ...settings,
    }).open(
      {
        callId: 'c1',
        codec: 'pcma',
        instructions: 'Be kind.',
        greeting,
        language: 'de-DE',
        voice: 'marin',
        tools: [{ name: 'opt_out', description: 'Bars.', parameters: { type: 'object' } }],
      },
      new AbortController().signal,
    )

  /** All messages of the type, once there are this many. */
  const receivedAtLeast = async (count: number, type: string): Promise<Message[]> => {
    for (;;) {
      const found = received.filter((candidate) => candidate.type === type)
      if (found.length >= count) return found
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }

  /** The first message of the type. */
  const receivedOf = async (type: string): Promise<Message> => {
    const [first] = await receivedAtLeast(1, type)
    return first ?? assert.fail()
  }

  /** The next connection's session has accepted its settings. */
  const nextConnection = async (): Promise<void> => {
    received = []
    await once(server, 'connection')
    await receivedOf('session.update')
  }

  /** The agent says this, in its own response. */
  const said = (itemId: string, text: string): void => {
    tell({ type: 'response.created', response: { id: `r-${itemId}` } })
    tell({ ...delta(itemId, 1_600), response_id: `r-${itemId}` })
    tell({
      type: 'response.output_audio_transcript.done',
      response_id: `r-${itemId}`,
      item_id: itemId,
      transcript: text,
    })
    tell({ type: 'response.done', response: { id: `r-${itemId}` } })
  }

  /** The callee begins to speak; with a text, finishes and is understood. */
  const heard = (itemId: string, atMs: number, text?: string): void => {
    tell({ type: 'input_audio_buffer.speech_started', item_id: itemId, audio_start_ms: atMs })
    if (text === undefined) return
    tell({ type: 'input_audio_buffer.speech_stopped', item_id: itemId, audio_end_ms: atMs + 500 })
    tell({
      type: 'conversation.item.input_audio_transcription.completed',
      item_id: itemId,
      transcript: text,
    })
  }

  return {
    get listener() {
      return server
    },
    /** The latest connection. */
    get socket() {
      return socket
    },
    get headers() {
      return headers
    },
    get path() {
      return path
    },
    get received() {
      return received
    },
    get connections() {
      return connections
    },
    /** Replaces the response to each `session.update`. */
    onSessionUpdate: (listener: () => void): void => {
      onSessionUpdate = listener
    },
    url,
    open,
    tell,
    said,
    heard,
    receivedAtLeast,
    receivedOf,
    nextConnection,
    itemsReceived: () =>
      received.filter(({ type }) => type === 'conversation.item.create').map(({ item }) => item),
  }
}

export const delta = (itemId: string, bytes: number) => ({
  type: 'response.output_audio.delta',
  response_id: 'r1',
  item_id: itemId,
  delta: Buffer.alloc(bytes, 7).toString('base64'),
})

export const next = async (session: VoiceSession): Promise<VoiceEvent | undefined> => {
  const result = await session.events[Symbol.asyncIterator]().next()
  return result.done ? undefined : result.value
}

/** The first event of this type; earlier events are dropped. */
export const untilEvent = async (
  session: VoiceSession,
  type: VoiceEvent['type'],
): Promise<VoiceEvent> => {
  for (;;) {
    const event = await next(session)
    assert.ok(event, `no ${type} came`)
    if (event.type === type) return event
  }
}
