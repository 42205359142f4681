import { ProviderError } from '../provider-error.ts'
import { plainLanguage, socketUrl } from '../providers/base-url.ts'
import { membersOf, stringOf } from '../providers/members.ts'
import type { CreateDialect, TranscriptEvent } from './stream-dialect.ts'

const openaiBase = 'wss://api.openai.com/v1'
const transcription = 'conversation.item.input_audio_transcription'

/** A session of type `transcription` of OpenAI's Realtime API. Our own detector commits the audio. */
export const openaiDialect: CreateDialect = (settings, language, codec) => {
  let item = ''
  let open = ''

  const readDelta = (message: Record<string, unknown>): TranscriptEvent[] => {
    if (stringOf(message.item_id) !== item) open = ''
    item = stringOf(message.item_id)
    open += stringOf(message.delta)
    return [{ type: 'words', text: open, isFinal: false }]
  }
  const readError = (message: Record<string, unknown>): TranscriptEvent[] => {
    const { code, type } = membersOf(message.error)
    if (code === 'input_audio_buffer_commit_empty') return [{ type: 'flushed' }]
    return [{ type: 'failed', error: failure(`${stringOf(code)} ${stringOf(type)}`) }]
  }

  return {
    url: socketUrl(settings.url ?? openaiBase, '/realtime', { intent: 'transcription' }),
    headers: settings.key === undefined ? {} : { authorization: `Bearer ${settings.key}` },
    hello: {
      type: 'session.update',
      session: {
        type: 'transcription',
        audio: {
          input: {
            format: { type: codec === 'pcmu' ? 'audio/pcmu' : 'audio/pcma' },
            transcription: {
              model: settings.model ?? 'gpt-4o-transcribe',
              language: plainLanguage(language),
            },
            turn_detection: null,
          },
        },
      },
    },
    announcesItself: true,
    chunkMs: 40,
    // Silence since the last commit would belong to the next words.
    hearsOnlySpeech: true,
    audio: (g711) => ({
      type: 'input_audio_buffer.append',
      audio: Buffer.from(g711).toString('base64'),
    }),
    flush: () => ({ type: 'input_audio_buffer.commit' }),
    confirmsFlush: true,
    bye: undefined,
    read(message) {
      switch (message.type) {
        case 'session.updated':
          return [{ type: 'ready' }]
        case `${transcription}.delta`:
          return readDelta(message)
        case `${transcription}.completed`:
          open = ''
          return [
            { type: 'words', text: stringOf(message.transcript), isFinal: true },
            { type: 'flushed' },
          ]
        case `${transcription}.failed`:
        case 'error':
          return readError(message)
        default:
          return []
      }
    },
  }
}

const failure = (about: string): ProviderError => {
  const status = /api_?key|auth|permission/i.test(about)
    ? 401
    : /rate_limit|quota/i.test(about)
      ? 429
      : /server_error/i.test(about)
        ? 500
        : 400
  return new ProviderError('transcription_failed', `The transcriber answered ${status}.`, {
    status,
  })
}
