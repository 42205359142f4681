import { decodeG711 } from '../../../../audio/g711.ts'
import { ProviderError } from '../provider-error.ts'
import { plainLanguage, socketUrl } from '../providers/base-url.ts'
import { arrayOf, membersOf, stringOf } from '../providers/members.ts'
import type { CreateDialect, TranscriptEvent } from './stream-dialect.ts'

const assemblyaiBase = 'wss://streaming.assemblyai.com'
/** AssemblyAI refuses messages of audio below 50 ms. */
const chunkMs = 60
const leastChunkMs = 50

/** AssemblyAI's universal streaming, `/v3/ws`. */
export const assemblyaiDialect: CreateDialect = (settings, language, codec) => ({
  url: socketUrl(settings.url ?? assemblyaiBase, '/v3/ws', {
    speech_model:
      settings.model ??
      (plainLanguage(language) === 'en'
        ? 'universal-streaming-english'
        : 'universal-streaming-multilingual'),
    sample_rate: '8000',
    // It knows no A-law.
    encoding: codec === 'pcmu' ? 'pcm_mulaw' : 'pcm_s16le',
    format_turns: 'false',
  }),
  headers: settings.key === undefined ? {} : { authorization: settings.key },
  announcesItself: true,
  chunkMs,
  leastChunkMs,
  audio: (g711) => (codec === 'pcmu' ? g711 : bytesOf(decodeG711(codec, g711))),
  flush: () => ({ type: 'ForceEndpoint' }),
  // There is no turn to end after silence.
  confirmsFlush: false,
  bye: { type: 'Terminate' },
  read(message) {
    if (message.type === 'Begin') return [{ type: 'ready' }]
    if (message.type === 'Error') return [failed(message.error_code)]
    return message.type === 'Turn' ? readTurn(message) : []
  },
})

const readTurn = (message: Record<string, unknown>): TranscriptEvent[] => {
  const isFinal = message.end_of_turn === true
  // Words that may still change stand in `words` only.
  const words = arrayOf(message.words).map((word) => stringOf(membersOf(word).text))
  const transcript = stringOf(message.transcript)
  const text = isFinal || words.length === 0 ? transcript : words.join(' ')
  const events: TranscriptEvent[] = [{ type: 'words', text, isFinal }]
  if (isFinal) events.push({ type: 'flushed' }, { type: 'hint', hint: 'maybe_over' })
  return events
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Int16Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

/** Its codes are close codes; 1008 is a wrong key, an empty account, or too many sessions. */
const failed = (code: unknown): TranscriptEvent => {
  const number = typeof code === 'number' ? code : 0
  const status = number === 1008 ? 401 : number === 3006 || number === 3007 ? 415 : undefined
  const message = `The transcriber reported ${number}.`
  return {
    type: 'failed',
    error: new ProviderError(
      'transcription_failed',
      message,
      status === undefined ? {} : { status },
    ),
  }
}
