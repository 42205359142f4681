import type { TranscriberKind } from '../../../../src/contract/provider-kinds.ts'
import { readForm } from '../../../../src/conversation/engines/scripted/request-body.ts'
import { readWav } from '../../../../src/audio/wav.ts'
import { ScriptedEar, type EarScript } from './scripted-ear.ts'
import { startProvider, type Face, type Peer, type ScriptedProvider } from './scripted-provider.ts'

/** Everything that a transcriber of ours speaks to; the two of Deepgram differ by the model. */
export type TranscriberName =
  Exclude<TranscriberKind, 'deepgram-stt'> | 'deepgram-nova' | 'deepgram-flux'

type CreateFace = (peer: Peer, script: EarScript) => Face

/** Sends the final words when they are asked for. `cut`: the connection breaks instead. */
const settle = (peer: Peer, ear: ScriptedEar, send: (text: string) => void): void => {
  const text = ear.takeFinal()
  peer.later(ear.finalMs, () => (peer.fault === 'cut' ? peer.close(1011) : send(text)))
}

const parsed = (data: Buffer): Record<string, unknown> =>
  JSON.parse(data.toString('utf8')) as Record<string, unknown>

const results = (transcript: string, more: object): object => ({
  type: 'Results',
  channel_index: [0, 1],
  channel: { alternatives: [{ transcript, confidence: 0.98, words: [] }] },
  ...more,
})

const nova: CreateFace = (peer, script) => {
  const ear = new ScriptedEar(script, peer, {
    onPartial: (text) => peer.send(results(text, { is_final: false, speech_final: false })),
  })
  return {
    onMessage(data, isBinary) {
      if (isBinary) return ear.hear(data)
      const { type } = parsed(data)
      if (type === 'CloseStream') return peer.close(1000)
      if (type !== 'Finalize') return undefined
      return settle(peer, ear, (text) => {
        // Little buffered audio is not confirmed.
        if (text !== '')
          peer.send(results(text, { is_final: true, speech_final: true, from_finalize: true }))
      })
    },
  }
}

const flux: CreateFace = (peer, script) => {
  let turn = 0
  let transcript = ''
  /** The words of this turn before its last pause. */
  let before = ''
  const joined = (text: string): string => (before === '' ? text : `${before} ${text}`)
  const tell = (event: string): void =>
    peer.send({ type: 'TurnInfo', event, turn_index: turn, transcript, words: [] })
  const ear = new ScriptedEar(script, peer, {
    onPartial(text) {
      const event = transcript === '' ? 'StartOfTurn' : 'Update'
      transcript = joined(text)
      tell(event)
    },
    // The model judges by the words too.
    onPause: () => /[.!?]$/.test(transcript) && tell('EagerEndOfTurn'),
    onResumed() {
      before = transcript
      if (transcript !== '') tell('TurnResumed')
    },
  })
  peer.send({ type: 'Connected', request_id: 'r', sequence_id: 0 })
  return {
    onMessage(data, isBinary) {
      if (isBinary) return ear.hear(data)
      const { type } = parsed(data)
      if (type === 'CloseStream') return peer.close(1000)
      if (type !== 'ForceEndTurn') return peer.send({ type: 'Error', code: 'UNPARSABLE_MESSAGE' })
      return settle(peer, ear, (text) => {
        transcript = joined(text)
        tell('EndOfTurn')
        transcript = ''
        before = ''
        turn += 1
      })
    },
  }
}

const assemblyai: CreateFace = (peer, script) => {
  let turn = 0
  const tell = (text: string, isOver: boolean): void =>
    peer.send({
      type: 'Turn',
      turn_order: turn,
      turn_is_formatted: false,
      end_of_turn: isOver,
      transcript: isOver ? text : text.split(' ').slice(0, -1).join(' '),
      words: text.split(' ').map((word) => ({ text: word, word_is_final: isOver })),
    })
  const ear = new ScriptedEar(script, peer, { onPartial: (text) => tell(text, false) })
  peer.send({ type: 'Begin', id: 's', expires_at: 1_900_000_000 })
  return {
    onMessage(data, isBinary) {
      if (isBinary) {
        if (data.length >= 400) return ear.hear(data)
        peer.send({ type: 'Error', error_code: 3007, error: 'Input duration too short' })
        return peer.close(3007)
      }
      const { type } = parsed(data)
      if (type === 'Terminate') return peer.close(1000)
      if (type !== 'ForceEndpoint') return undefined
      return settle(peer, ear, (text) => {
        if (text === '') return
        tell(text, true)
        turn += 1
      })
    },
  }
}

/** Soniox sends parts of words. */
const tokensOf = (text: string, isFinal: boolean): object[] =>
  (text.match(/ ?[^ ]{1,3}/g) ?? []).map((piece) => ({ text: piece, is_final: isFinal }))

const soniox: CreateFace = (peer, script) => {
  let isConfigured = false
  const ear = new ScriptedEar(script, peer, {
    onPartial: (text) => peer.send({ tokens: tokensOf(text, false) }),
  })
  return {
    onMessage(data, isBinary) {
      if (isBinary) return ear.hear(data)
      const message = parsed(data)
      if (!isConfigured) {
        isConfigured = true
        if (message.model !== undefined && message.audio_format === 'mulaw') return undefined
        peer.send({ error_code: 400, error_message: 'Invalid audio format.' })
        return peer.close(1000)
      }
      if (message.type !== 'finalize') return undefined
      return settle(peer, ear, (text) =>
        peer.send({ tokens: [...tokensOf(text, true), { text: '<fin>', is_final: true }] }),
      )
    },
  }
}

const openai: CreateFace = (peer, script) => {
  let items = 0
  const words = 'conversation.item.input_audio_transcription'
  const ear = new ScriptedEar(script, peer, { onPartial() {} })
  peer.send({ type: 'session.created', session: { type: 'realtime' } })
  return {
    onMessage(data) {
      const message = parsed(data)
      if (message.type === 'session.update')
        return peer.send({ type: 'session.updated', session: message.session })
      if (message.type === 'input_audio_buffer.append')
        return ear.hear(Buffer.from(String(message.audio), 'base64'))
      if (message.type !== 'input_audio_buffer.commit') return undefined
      items += 1
      const item_id = `item_${items}`
      return settle(peer, ear, (text) => {
        if (text === '')
          return peer.send({ type: 'error', error: { code: 'input_audio_buffer_commit_empty' } })
        for (const delta of text.split(/(?<= )/))
          peer.send({ type: `${words}.delta`, item_id, delta })
        return peer.send({ type: `${words}.completed`, item_id, transcript: text })
      })
    },
  }
}

const faces: Readonly<Record<Exclude<TranscriberName, 'openai-stt'>, CreateFace>> = {
  'deepgram-nova': nova,
  'deepgram-flux': flux,
  'assemblyai-stt': assemblyai,
  'soniox-stt': soniox,
  'openai-stt-stream': openai,
}

/** A transcriber that understands the words of its script, one stretch of speech after the other. */
export const startTranscriber = (
  name: TranscriberName,
  script: EarScript,
): Promise<ScriptedProvider> => {
  if (name !== 'openai-stt') return startProvider({ connect: (peer) => faces[name](peer, script) })
  const left = [...script.stretches]
  return startProvider({
    answer(request, body, response, fault) {
      if (fault === 'wrong_format') return void response.end('<html>')
      if (fault === 'cut') {
        response.writeHead(200, { 'content-length': '100' }).write('{"te')
        return void setTimeout(() => response.destroy(), 20)
      }
      const file = readForm(body, request.headers['content-type'] ?? '')?.get('file')
      const isSpeech = readWav(file ?? Buffer.alloc(0)).samples.length > 0
      const text = isSpeech ? (left.shift() ?? '') : ''
      return void setTimeout(() => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ text }))
      }, script.finalMs ?? 0)
    },
  })
}

/** The settings under which our adapter reaches it. */
export const transcriberSettings = (name: TranscriberName, { url }: ScriptedProvider) => {
  const isDeepgram = name === 'deepgram-nova' || name === 'deepgram-flux'
  return {
    name,
    id: `${name} ${url}`,
    key: 'secret-key',
    url: name.startsWith('openai') ? `${url}/v1` : url,
    kind: isDeepgram ? ('deepgram-stt' as const) : name,
    ...(isDeepgram && { model: name === 'deepgram-nova' ? 'nova-3' : 'flux-general-en' }),
  }
}

export const transcriberNames: readonly TranscriberName[] = [
  'deepgram-nova',
  'deepgram-flux',
  'assemblyai-stt',
  'soniox-stt',
  'openai-stt-stream',
  'openai-stt',
]
