import { z } from 'zod'
import { optional, optionalText, setting, url } from './setting.ts'

/** What nearly every server of the protocol understands as the pace of speech; xAI takes 0.7 at least. */
const speed = z
  .string()
  .transform(Number)
  .pipe(
    z.number('must be a number').min(0.25, 'must be 0.25 or more').max(1.5, 'must be 1.5 or less'),
  )

const oneOf = <const T extends readonly [string, ...string[]]>(names: T) =>
  z.enum(names, `must be ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`).optional()

/** The server of the Realtime protocol, and what is asked of it beyond the usual. */
export const realtimeSettings = {
  url: setting('OUTDIAL_REALTIME_URL', optional(url('ws', 'wss')), 'Realtime-protocol server.'),
  key: setting('OUTDIAL_REALTIME_KEY', optionalText, 'Its key.', { secret: true }),
  model: setting('OUTDIAL_REALTIME_MODEL', optionalText, 'Its model.'),
  voice: setting('OUTDIAL_REALTIME_VOICE', optionalText, 'Its voice.'),
  transcriptionModel: setting(
    'OUTDIAL_REALTIME_TRANSCRIPTION_MODEL',
    optionalText,
    'What writes the callee’s words; on Azure the name of its deployment.',
    { shown: 'the server’s own' },
  ),
  turnDetection: setting(
    'OUTDIAL_REALTIME_TURN_DETECTION',
    oneOf(['server_vad', 'semantic_vad']),
    'How the server finds the end of the callee’s turn: by silence, or by what was said.',
    { shown: 'server_vad' },
  ),
  eagerness: setting(
    'OUTDIAL_REALTIME_EAGERNESS',
    oneOf(['low', 'medium', 'high', 'auto']),
    'How soon `semantic_vad` takes a turn for finished.',
    { shown: 'auto' },
  ),
  noiseReduction: setting(
    'OUTDIAL_REALTIME_NOISE_REDUCTION',
    oneOf(['near_field', 'far_field']),
    'Noise reduction of the server: `near_field` for a phone at the ear, `far_field` for a loudspeaker.',
    { shown: 'none' },
  ),
  speed: setting(
    'OUTDIAL_REALTIME_SPEED',
    optional(speed),
    'Pace of the agent’s speech, 0.25 to 1.5.',
    { shown: '1' },
  ),
  reasoningEffort: setting(
    'OUTDIAL_REALTIME_REASONING_EFFORT',
    oneOf(['none', 'minimal', 'low', 'medium', 'high', 'xhigh']),
    'How long a reasoning model thinks before it speaks.',
    { shown: 'the model’s own' },
  ),
} as const
