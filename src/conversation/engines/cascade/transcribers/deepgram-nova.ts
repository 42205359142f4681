import { plainLanguage, socketUrl } from '../providers/base-url.ts'
import type { CreateDialect, TranscriptEvent } from './stream-dialect.ts'
import { arrayOf, membersOf, stringOf } from '../providers/members.ts'
import { deepgramBase, deepgramError, deepgramHeaders } from './deepgram-flux.ts'

/** Deepgram closes a connection that hears nothing for 10 s. */
const keepAliveMs = 4_000

/** Deepgram's `/v1/listen`: Nova and the models before it. */
export const novaDialect: CreateDialect = (settings, language, codec) => ({
  url: socketUrl(settings.url ?? deepgramBase, '/v1/listen', {
    model: settings.model ?? 'nova-3',
    language: plainLanguage(language),
    encoding: codec === 'pcmu' ? 'mulaw' : 'alaw',
    sample_rate: '8000',
    channels: '1',
    interim_results: 'true',
    smart_format: 'true',
    endpointing: '300',
  }),
  headers: deepgramHeaders(settings),
  announcesItself: false,
  chunkMs: 40,
  keepAlive: { everyMs: keepAliveMs, message: { type: 'KeepAlive' } },
  audio: (g711) => g711,
  flush: () => ({ type: 'Finalize' }),
  // Its documentation: `from_finalize` may come, typically where much audio was buffered.
  confirmsFlush: false,
  bye: { type: 'CloseStream' },
  read(message) {
    if (message.type === 'Error') return [deepgramError(message)]
    if (message.type !== 'Results') return []
    const [best] = arrayOf(membersOf(message.channel).alternatives)
    const text = stringOf(membersOf(best).transcript)
    const isFinal = message.is_final === true
    // An empty final result makes the words before it final, and adds none.
    const events: TranscriptEvent[] = [{ type: 'words', text, isFinal }]
    if (message.from_finalize === true) events.push({ type: 'flushed' })
    if (message.speech_final === true && text !== '')
      events.push({ type: 'hint', hint: 'maybe_over' })
    return events
  },
})
