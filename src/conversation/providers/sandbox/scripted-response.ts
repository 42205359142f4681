import type { WireAudio } from '../realtime/wire-audio.ts'
import type { Reply } from './dialogue.ts'
import type { SpokenSentence } from './scripted-voice.ts'

/** One response of the scripted model on its way to the client. */
export interface ScriptedResponse {
  readonly id: string
  /** `response.cancel`: nothing more is sent but the response's end. */
  cancel(): void
  /** The client is gone: nothing more is sent at all. */
  abandon(): void
  /** A short answer may be over as soon as it has begun. */
  readonly isOver: boolean
}

export interface ScriptedResponseOptions {
  readonly id: string
  readonly newId: (prefix: string) => string
  readonly reply: Reply
  readonly sentences: Iterator<SpokenSentence>
  readonly wire: WireAudio
  readonly send: (event: object) => void
  /** So many milliseconds of audio of this item were sent so far. */
  onAudio(itemId: string, producedMs: number): void
  onCall(toolCallId: string): void
  onDone(): void
}

const bytesPerMs = 8
/** One delta carries 200 ms. */
const deltaBytes = 200 * bytesPerMs
/** The first second goes out at once, the rest four times as fast as it is heard: a model is quick, not instant. */
const burstMs = 1_000
const paceMs = 100
const pacedMsPerStep = 400
const tokensPerSecondOfAudio = 20

/** Sends the events of a response in the order of the protocol, paced, until it is complete or cancelled. */
export const startScriptedResponse = (options: ScriptedResponseOptions): ScriptedResponse => {
  const { id, newId, reply, send, wire } = options
  const itemId = newId('item')
  const output: object[] = []
  let timer: NodeJS.Timeout | undefined
  let sentence: SpokenSentence | undefined
  let sentenceAt = 0
  let sentMs = 0
  let isOver = false

  const at = { response_id: id, item_id: itemId, output_index: 0, content_index: 0 }

  const finish = (status: 'completed' | 'cancelled'): void => {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    const outputTokens = Math.ceil((sentMs / 1_000) * tokensPerSecondOfAudio)
    const usage = { input_tokens: reply.text.length, output_tokens: outputTokens }
    send({
      type: 'response.done',
      response: { id, object: 'realtime.response', status, output, usage },
    })
    options.onDone()
  }

  const endMessage = (): void => {
    send({ type: 'response.output_audio_transcript.done', ...at, transcript: reply.text })
    send({ type: 'response.output_audio.done', ...at })
    const content = [{ type: 'output_audio', transcript: reply.text }]
    const item = { id: itemId, type: 'message', role: 'assistant', status: 'completed', content }
    output.push(item)
    send({ type: 'response.output_item.done', response_id: id, output_index: 0, item })
  }

  const sendCalls = (): void => {
    for (const call of reply.calls) {
      const toolCallId = newId('call')
      options.onCall(toolCallId)
      const item = {
        id: newId('item'),
        type: 'function_call',
        status: 'completed',
        call_id: toolCallId,
        name: call.name,
        arguments: JSON.stringify(call.arguments),
      }
      const outputIndex = output.push(item) - 1
      const place = { response_id: id, output_index: outputIndex }
      send({ type: 'response.output_item.added', ...place, item })
      send({
        type: 'response.function_call_arguments.done',
        ...place,
        item_id: item.id,
        ...call,
        call_id: toolCallId,
        arguments: item.arguments,
      })
      send({ type: 'response.output_item.done', ...place, item })
    }
  }

  /** `false` when there is nothing more to say. */
  const sendDelta = (): boolean => {
    if (!sentence || sentenceAt >= sentence.g711.length) {
      const next = options.sentences.next()
      if (next.done) return false
      sentence = next.value
      sentenceAt = 0
      send({ type: 'response.output_audio_transcript.delta', ...at, delta: `${sentence.text} ` })
    }
    const chunk = sentence.g711.subarray(sentenceAt, sentenceAt + deltaBytes)
    sentenceAt += chunk.length
    sentMs += chunk.length / bytesPerMs
    options.onAudio(itemId, Math.floor(sentMs))
    send({
      type: 'response.output_audio.delta',
      ...at,
      delta: wire.toWire(chunk).toString('base64'),
    })
    return true
  }

  const speakOn = (untilMs: number): void => {
    while (sentMs < untilMs) {
      if (sendDelta()) continue
      endMessage()
      sendCalls()
      return finish('completed')
    }
    timer = setTimeout(() => speakOn(sentMs + pacedMsPerStep), paceMs)
  }

  const begin = (): void => {
    send({
      type: 'response.created',
      response: { id, object: 'realtime.response', status: 'in_progress', output: [] },
    })
    if (reply.text === '') {
      sendCalls()
      return finish('completed')
    }
    const item = {
      id: itemId,
      type: 'message',
      role: 'assistant',
      status: 'in_progress',
      content: [],
    }
    send({ type: 'response.output_item.added', response_id: id, output_index: 0, item })
    speakOn(burstMs)
  }

  begin()
  return {
    id,
    cancel: () => finish('cancelled'),
    abandon: () => {
      isOver = true
      clearTimeout(timer)
    },
    get isOver() {
      return isOver
    },
  }
}
