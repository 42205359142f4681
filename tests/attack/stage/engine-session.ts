import type { WebSocket } from 'ws'
import { agentFrame, hear, type Heard } from './marked-audio.ts'

/** One conversation at the harness's engine. */
export interface EngineSession {
  /** The content of `<…>` in the agent's prompt: the contact's name. Empty until the session is configured. */
  readonly line: string
  /** Names of the tools the agent has. */
  readonly tools: readonly string[]
  /** Whose audio arrived. */
  readonly heard: Heard
  /** Texts that the product sent beside audio: keys that were pressed, notes. */
  readonly told: readonly string[]
  readonly isOpen: boolean
  /** Calls a tool as the model would; resolves with the product's result. */
  callTool(name: string, toolArguments: object): Promise<string>
  /** Reports words of the callee. */
  reportWords(text: string): void
  close(): void
}

/** Prompts of the harness's agents name their contact in this form. */
export const linePrompt = 'You talk to <{{contact.name}}>.'

/** Often enough that the callee never counts as gone. */
const talkEveryMs = 2_000
const agentSeconds = 1.2
const framesPerSecond = 50

type Event = Readonly<Record<string, unknown>>

export const serveEngineSession = (socket: WebSocket, onSettled: () => void): EngineSession => {
  const heard: Heard = { callee: 0, agent: 0, stranger: 0 }
  const told: string[] = []
  const results = new Map<string, (result: string) => void>()
  let line = ''
  let tools: string[] = []
  let ids = 0
  let heardMs = 0

  const newId = (kind: string): string => `${kind}_${(ids += 1)}`
  const send = (event: object): void => {
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(event))
  }

  const respond = (text: string): void => {
    const at = { response_id: newId('resp'), item_id: newId('item') }
    const audio = Buffer.concat(
      Array.from({ length: agentSeconds * framesPerSecond }, () => agentFrame),
    )
    send({ type: 'response.created', response: { id: at.response_id } })
    send({ type: 'response.output_audio.delta', ...at, delta: audio.toString('base64') })
    send({ type: 'response.output_audio_transcript.done', ...at, transcript: text })
    send({ type: 'response.output_audio.done', ...at })
    send({ type: 'response.done', response: { id: at.response_id, status: 'completed' } })
  }

  const reportWords = (text: string): void => {
    const item_id = newId('heard')
    const endMs = heardMs
    const startMs = Math.max(0, endMs - 500)
    send({ type: 'input_audio_buffer.speech_started', item_id, audio_start_ms: startMs })
    send({ type: 'input_audio_buffer.speech_stopped', item_id, audio_end_ms: endMs })
    const type = 'conversation.item.input_audio_transcription.completed'
    send({ type, item_id, transcript: text })
  }

  const takeSession = (session: Event): void => {
    line = /<([^>]*)>/.exec(String(session['instructions']))?.[1] ?? ''
    const given = Array.isArray(session['tools']) ? (session['tools'] as Event[]) : []
    tools = given.map((tool) => String(tool['name']))
    send({ type: 'session.updated', session: { type: 'realtime' } })
    onSettled()
  }

  const takeItem = (item: Event): void => {
    if (item['type'] !== 'function_call_output') return void told.push(JSON.stringify(item))
    results.get(String(item['call_id']))?.(String(item['output']))
  }

  const receive = (event: Event): void => {
    switch (event['type']) {
      case 'input_audio_buffer.append': {
        const audio = Buffer.from(String(event['audio']), 'base64')
        heardMs += audio.length / 8
        return hear(audio, heard)
      }
      case 'session.update':
        return takeSession(event['session'] as Event)
      case 'conversation.item.create':
        return takeItem(event['item'] as Event)
      case 'response.create':
        return respond('Hello.')
      default:
        return undefined
    }
  }

  send({ type: 'session.created', session: { type: 'realtime', object: 'realtime.session' } })
  socket.on('message', (data: Buffer) => receive(JSON.parse(data.toString('utf8')) as Event))
  socket.on('error', () => socket.terminate())
  const timer = setInterval(() => {
    reportWords('Please go on.')
    respond('I see.')
  }, talkEveryMs)
  socket.on('close', () => clearInterval(timer))

  return {
    get line() {
      return line
    },
    get tools() {
      return tools
    },
    heard,
    told,
    get isOpen() {
      return socket.readyState === socket.OPEN
    },
    callTool: (name, toolArguments) => {
      const callId = newId('call')
      const response = { id: newId('resp') }
      const item = {
        type: 'function_call',
        id: newId('item'),
        call_id: callId,
        name,
        arguments: JSON.stringify(toolArguments),
      }
      const result = new Promise<string>((resolve) => results.set(callId, resolve))
      send({ type: 'response.created', response })
      send({ type: 'response.output_item.done', response_id: response.id, item })
      send({ type: 'response.done', response: { ...response, status: 'completed' } })
      return result
    },
    reportWords,
    close: () => {
      clearInterval(timer)
      socket.terminate()
    },
  }
}
