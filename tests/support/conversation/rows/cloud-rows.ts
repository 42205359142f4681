import {
  errorEvent,
  freshSession,
  gaFormatOf,
  gaShape,
  memberAt,
  pcm24,
  takeCommon,
  unknownMember,
  type Json,
  type RowSession,
  type ServerRow,
} from './server-row.ts'

const unknownParameter = (path: string): Json =>
  errorEvent('invalid_request_error', `Unknown parameter: '${path}'.`, 'unknown_parameter', path)

const invalidValue = (message: string, param: string): Json =>
  errorEvent('invalid_request_error', message, 'invalid_value', param)

const updated = (session: Json): Json => ({ type: 'session.updated', session })

/** The settings of OpenAI's present protocol; words of the callee only with a transcription model that exists. */
const takeGa = (session: Json, state: RowSession, models: readonly string[]): Json[] => {
  const unknown = unknownMember(session, gaShape)
  if (unknown !== undefined) return [unknownParameter(unknown)]
  if (session['type'] !== 'realtime')
    return [invalidValue('Missing required parameter.', 'session.type')]
  const input = memberAt(session, 'audio.input.format')
  const output = memberAt(session, 'audio.output.format')
  const formats = [input, output].map(gaFormatOf)
  if (formats.includes(undefined))
    return [invalidValue('Unsupported audio format.', 'session.audio.input.format')]
  state.input = formats[0] ?? pcm24
  state.output = formats[1] ?? pcm24
  const model = memberAt(session, 'audio.input.transcription.model')
  if (typeof model === 'string') state.transcription = models.includes(model) ? 'works' : 'failed'
  state.interruptsItself =
    memberAt(session, 'audio.input.turn_detection.interrupt_response') !== false
  takeCommon(session, state)
  return [updated({ ...session, object: 'realtime.session' })]
}

/** developers.openai.com, reference of the Realtime API: unknown members are refused. */
export const openAi: ServerRow = {
  name: 'OpenAI',
  fragment: 'openai',
  settings: { key: 'sk-1', model: 'gpt-realtime' },
  admits: (url, headers) =>
    headers.authorization === 'Bearer sk-1' && url.searchParams.get('model') === 'gpt-realtime',
  initial: freshSession(),
  opening: [
    { type: 'session.created', session: { type: 'realtime', object: 'realtime.session' } },
    { type: 'conversation.created', conversation: { id: 'conv_1' } },
  ],
  update: (session, state) =>
    takeGa(session, state, ['whisper-1', 'gpt-4o-mini-transcribe', 'gpt-transcribe']),
  speechTimes: 'session',
  callEvents: 'both',
  usage: {
    total_tokens: 150,
    input_tokens: 100,
    output_tokens: 50,
    input_token_details: {
      text_tokens: 40,
      audio_tokens: 60,
      cached_tokens: 30,
      cached_tokens_details: { text_tokens: 20, audio_tokens: 10 },
    },
    output_token_details: { text_tokens: 10, audio_tokens: 40 },
  },
}

/** learn.microsoft.com, Realtime audio reference: as OpenAI, but the transcription model is a deployment. */
export const azure: ServerRow = {
  ...openAi,
  name: 'Azure OpenAI',
  fragment: 'azure',
  settings: { key: 'az-1', model: 'my-voice', transcriptionModel: 'my-transcriber' },
  admits: (url, headers) =>
    headers['api-key'] === 'az-1' && url.searchParams.get('model') === 'my-voice',
  update: (session, state) => takeGa(session, state, ['my-transcriber']),
}

/** docs.x.ai, Voice Agent API: flat turns, `speech_started` without a time, a call only by its arguments. */
export const xAi: ServerRow = {
  name: 'xAI',
  fragment: 'xai',
  settings: { key: 'xai-1', model: 'grok-voice-latest' },
  admits: (_, headers) => headers.authorization === 'Bearer xai-1',
  initial: freshSession(),
  opening: [
    { type: 'conversation.created', conversation: { id: 'conv_1' } },
    { type: 'session.created', session: { model: 'grok-voice-latest' } },
  ],
  update(session, state) {
    const formats = ['audio.input.format', 'audio.output.format'].map((path) =>
      gaFormatOf(memberAt(session, path)),
    )
    state.input = formats[0] ?? pcm24
    state.output = formats[1] ?? pcm24
    const model = memberAt(session, 'audio.input.transcription.model')
    if (model === 'grok-transcribe') state.transcription = 'works'
    takeCommon(session, state)
    return [updated(session)]
  },
  speechTimes: 'none',
  callEvents: 'arguments',
}

/** docs.inworld.ai, Realtime API: key by Basic, a session key in the address, the model in the session. */
export const inworld: ServerRow = {
  name: 'Inworld',
  fragment: 'inworld',
  settings: { key: 'aW53b3JsZA==', model: 'openai/gpt-4o-mini', voice: 'Clive' },
  admits: (url, headers) =>
    headers.authorization === 'Basic aW53b3JsZA==' &&
    (url.searchParams.get('key') ?? '') !== '' &&
    url.searchParams.get('protocol') === 'realtime',
  initial: freshSession({ transcription: 'works' }),
  opening: [{ type: 'session.created', session: { type: 'realtime', model: 'inworld/router' } }],
  update(session, state) {
    if (session['model'] !== 'openai/gpt-4o-mini')
      return [invalidValue('Name a model.', 'session.model')]
    const format = gaFormatOf(memberAt(session, 'audio.input.format'))
    if (format?.kind === 'g711')
      return [invalidValue('Only PCM is supported.', 'session.audio.input.format')]
    const model = memberAt(session, 'audio.input.transcription.model')
    if (typeof model === 'string' && !model.startsWith('inworld/')) state.transcription = 'failed'
    state.input = format ?? pcm24
    state.output = gaFormatOf(memberAt(session, 'audio.output.format')) ?? pcm24
    takeCommon(session, state)
    return [updated(session)]
  },
  speechTimes: 'session',
  callEvents: 'both',
}

const qwenShape: Json = {
  modalities: '*',
  voice: '*',
  instructions: '*',
  input_audio_format: '*',
  output_audio_format: '*',
  input_audio_transcription: { model: '*' },
  turn_detection: { type: '*', threshold: '*', silence_duration_ms: '*' },
  tools: '*',
  tool_choice: '*',
  temperature: '*',
}

/** alibabacloud.com, Model Studio, Qwen-Omni-Realtime: flat, `pcm` at 16 kHz in and 24 kHz out, nested functions. */
export const qwenOmni: ServerRow = {
  name: 'Qwen-Omni',
  fragment: 'qwen',
  settings: { key: 'sk-q', model: 'qwen3-omni-flash-realtime', voice: 'Cherry' },
  admits: (url, headers) =>
    headers.authorization === 'Bearer sk-q' &&
    url.searchParams.get('model') === 'qwen3-omni-flash-realtime',
  initial: freshSession({ input: { kind: 'pcm', rateHz: 16_000 }, transcription: 'works' }),
  opening: [
    {
      type: 'session.created',
      session: {
        object: 'realtime.session',
        modalities: ['text', 'audio'],
        input_audio_format: 'pcm',
        output_audio_format: 'pcm',
        input_audio_transcription: { model: 'qwen3-asr-flash-realtime' },
      },
    },
  ],
  update(session, state) {
    const unknown = unknownMember(session, qwenShape)
    if (unknown !== undefined) return [invalidValue(`Invalid parameter: ${unknown}`, unknown)]
    for (const member of ['input_audio_format', 'output_audio_format'])
      if (session[member] !== undefined && session[member] !== 'pcm')
        return [invalidValue(`Invalid ${member}: only pcm.`, `session.${member}`)]
    const tools = (session['tools'] ?? []) as readonly Json[]
    if (tools.some((tool) => tool['function'] === undefined))
      return [invalidValue('Invalid tools: function is required.', 'session.tools')]
    const model = memberAt(session, 'input_audio_transcription.model')
    if (typeof model === 'string' && !/^(?:qwen|gummy)/.test(model)) state.transcription = 'failed'
    takeCommon({ ...session, tools: tools.map((tool) => tool['function']) }, state)
    return [updated(session)]
  },
  isBeta: true,
  speechTimes: 'session',
  callEvents: 'both',
  refusals: {
    'conversation.item.truncate': invalidValue('Unknown event.', 'type'),
  },
  usage: {
    total_tokens: 90,
    input_tokens: 60,
    output_tokens: 30,
    input_tokens_details: { text_tokens: 20, audio_tokens: 40 },
    output_tokens_details: { text_tokens: 10, audio_tokens: 20 },
  },
}
