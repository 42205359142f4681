import { ProviderError } from '../provider-error.ts'
import { plainLanguage, socketUrl } from '../providers/base-url.ts'
import { arrayOf, membersOf, stringOf } from '../providers/members.ts'
import type { CreateDialect, TranscriptEvent } from './stream-dialect.ts'

const sonioxBase = 'wss://stt-rt.soniox.com'
const keepAliveMs = 8_000
/** Marks the end of what a `finalize` asked for, and the end of a turn. */
const flushMark = '<fin>'
const endMark = '<end>'

/** Soniox, which sends tokens: parts of words, each final one once. */
export const sonioxDialect: CreateDialect = (settings, language, codec) => {
  let final = ''

  const readTokens = (tokens: readonly unknown[]): TranscriptEvent[] => {
    const events: TranscriptEvent[] = []
    let open = ''
    for (const token of tokens) {
      const { text: piece, is_final: isFinal } = membersOf(token)
      const text = stringOf(piece)
      if (text === flushMark || text === endMark) {
        events.push({ type: 'words', text: final, isFinal: true })
        final = ''
        if (text === endMark) events.push({ type: 'hint', hint: 'maybe_over' })
        else events.push({ type: 'flushed' })
      } else if (isFinal === true) final += text
      else open += text
    }
    if (final + open !== '') events.push({ type: 'words', text: final + open, isFinal: false })
    return events
  }

  return {
    url: socketUrl(settings.url ?? sonioxBase, '/transcribe-websocket'),
    headers: settings.key === undefined ? {} : { authorization: `Bearer ${settings.key}` },
    hello: {
      model: settings.model ?? 'stt-rt-v5',
      audio_format: codec === 'pcmu' ? 'mulaw' : 'alaw',
      sample_rate: 8_000,
      num_channels: 1,
      language_hints: [plainLanguage(language)],
      enable_endpoint_detection: true,
    },
    // It answers the first message only if that was wrong.
    announcesItself: false,
    chunkMs: 40,
    keepAlive: { everyMs: keepAliveMs, message: { type: 'keepalive' } },
    audio: (g711) => g711,
    flush: () => ({ type: 'finalize' }),
    confirmsFlush: true,
    bye: undefined,
    read(message) {
      if (message.error_code === undefined) return readTokens(arrayOf(message.tokens))
      const status = typeof message.error_code === 'number' ? message.error_code : 500
      return [
        {
          type: 'failed',
          error: new ProviderError('transcription_failed', `The transcriber answered ${status}.`, {
            status,
          }),
        },
      ]
    },
  }
}
