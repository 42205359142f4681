import { g711Silence } from '../../../../audio/g711.ts'
import { ProviderError } from '../provider-error.ts'
import { plainLanguage, socketUrl } from '../providers/base-url.ts'
import type { ProviderSettings } from '../providers/provider-settings.ts'
import { stringOf } from '../providers/members.ts'
import type { CreateDialect, TranscriptEvent } from './stream-dialect.ts'

export const deepgramBase = 'wss://api.deepgram.com'

export const deepgramHeaders = ({ key }: ProviderSettings): Readonly<Record<string, string>> =>
  key === undefined ? {} : { authorization: `Token ${key}` }

/** Deepgram's advice for messages of audio to Flux. */
const chunkMs = 80
const keepAliveMs = 4_000

/** Deepgram's `/v2/listen`: Flux, which knows by itself when a turn ends. */
export const fluxDialect: CreateDialect = (settings, language, codec) => {
  const spoken = plainLanguage(language)
  const model = settings.model ?? (spoken === 'en' ? 'flux-general-en' : 'flux-general-multi')
  let isTurnOpen = false
  /** Its documentation: the end of a turn has the words of the eager end before it. */
  let isEager = false

  const readTurn = (message: Record<string, unknown>): TranscriptEvent[] => {
    const text = stringOf(message.transcript)
    const isOver = message.event === 'EndOfTurn'
    isEager = message.event === 'EagerEndOfTurn'
    isTurnOpen = !isOver && (isTurnOpen || text !== '' || message.event === 'StartOfTurn')
    const events: TranscriptEvent[] = []
    if (text !== '') events.push({ type: 'words', text, isFinal: isOver })
    if (isOver) events.push({ type: 'flushed' })
    if (isOver || message.event === 'EagerEndOfTurn')
      events.push({ type: 'hint', hint: 'maybe_over' })
    if (message.event === 'TurnResumed') events.push({ type: 'hint', hint: 'resumed' })
    return events
  }

  return {
    url: socketUrl(settings.url ?? deepgramBase, '/v2/listen', {
      model,
      encoding: codec === 'pcmu' ? 'mulaw' : 'alaw',
      sample_rate: '8000',
      eager_eot_threshold: '0.4',
      eot_threshold: '0.7',
      language_hint: model === 'flux-general-multi' ? spoken : undefined,
    }),
    headers: deepgramHeaders(settings),
    announcesItself: true,
    chunkMs,
    keepAlive: { everyMs: keepAliveMs, message: g711Silence(codec, chunkMs * 8) },
    audio: (g711) => g711,
    // Its own hints come before a pause would.
    flush: (isOver) => (isOver && isTurnOpen ? { type: 'ForceEndTurn' } : undefined),
    confirmsFlush: false,
    isSettled: () => isEager,
    bye: { type: 'CloseStream' },
    read(message) {
      if (message.type === 'Connected') return [{ type: 'ready' }]
      if (message.type === 'Error') return [deepgramError(message)]
      return message.type === 'TurnInfo' ? readTurn(message) : []
    },
  }
}

/** Names the error by its code only: descriptions repeat what was sent. */
export const deepgramError = (message: Record<string, unknown>): TranscriptEvent => {
  const code = stringOf(message.code ?? message.err_code).slice(0, 60)
  const status = /AUTH|INVALID_CREDENTIALS/i.test(code)
    ? 401
    : /RATE|TOO_MANY|CONCURRENCY/i.test(code)
      ? 429
      : /DATA|FORMAT|INVALID|UNPARSABLE/i.test(code)
        ? 415
        : undefined
  return {
    type: 'failed',
    error: new ProviderError(
      'transcription_failed',
      `The transcriber reported ${/^[\w.-]+$/.test(code) ? code : 'an error'}.`,
      status === undefined ? {} : { status },
    ),
  }
}
