import {
  errorEvent,
  freshSession,
  gaFormatOf,
  memberAt,
  pcm24,
  takeCommon,
  type Json,
  type RowSession,
  type ServerRow,
} from './server-row.ts'

const refusedField = (field: string): Json =>
  errorEvent(
    'invalid_request_error',
    `Specifying \`${field}\` is not supported. The server either does not support this field or it is not configurable.`,
  )

const notImplemented = (type: string): Json =>
  errorEvent('server_error', `Handling of the '${type}' event is not implemented.`)

const speachesSession = {
  id: 'sess_1',
  model: 'my-llm',
  modalities: ['audio', 'text'],
  speech_model: 'speaches-ai/Kokoro-82M-v1.0-ONNX',
  voice: 'af_heart',
  input_audio_format: 'pcm16',
  output_audio_format: 'pcm16',
  input_audio_transcription: { model: 'Systran/faster-distil-whisper-small.en', language: null },
}

/**
 * speaches-ai/speaches, `src/speaches/realtime`: errors about formats come before `session.updated`, a foreign
 * transcription model fails, times count from the last speech, and neither cancelling nor truncating exists.
 */
export const speaches: ServerRow = {
  name: 'speaches',
  fragment: 'speaches',
  settings: { key: 'k', model: 'my-llm' },
  admits: (url, headers) =>
    headers.authorization === 'Bearer k' && url.searchParams.get('model') === 'my-llm',
  initial: freshSession({ transcription: 'works' }),
  opening: [{ type: 'session.created', session: speachesSession }],
  update(session, state) {
    const errors = ['input_audio_format', 'output_audio_format']
      .filter((member) => member in session)
      .map((member) => refusedField(`session.${member}`))
    const model = memberAt(session, 'input_audio_transcription.model')
    if (typeof model === 'string' && !model.startsWith('Systran/')) state.transcription = 'failed'
    takeCommon(session, state)
    return [...errors, { type: 'session.updated', session: { ...speachesSession, ...session } }]
  },
  isBeta: true,
  speechTimes: 'buffer',
  callEvents: 'item',
  replacesActive: true,
  refusals: {
    'response.cancel': notImplemented('response.cancel'),
    'conversation.item.truncate': notImplemented('conversation.item.truncate'),
  },
}

/**
 * mudler/LocalAI, `core/http/endpoints/openai`: G.711 is taken and read as PCM, a foreign transcription model
 * refuses the whole update, times are the clock's since the connection.
 */
export const localAi: ServerRow = {
  name: 'LocalAI',
  settings: { key: 'k', model: 'my-pipeline' },
  admits: (_, headers) => headers.authorization === 'Bearer k',
  initial: freshSession({ transcription: 'works' }),
  opening: [
    {
      type: 'session.created',
      session: {
        type: 'realtime',
        object: 'realtime.session',
        audio: { input: { transcription: { model: 'whisper-base' } }, output: { voice: 'amy' } },
      },
    },
  ],
  update(session, state) {
    if (session['type'] !== 'realtime')
      return [errorEvent('invalid_request_error', 'Invalid JSON format', 'invalid_json')]
    const model = memberAt(session, 'audio.input.transcription.model')
    if (typeof model === 'string' && model !== 'whisper-base')
      return [
        errorEvent(
          'invalid_request_error',
          `Failed to update session: failed to load model ${model}`,
          'session_update_error',
        ),
      ]
    readAsPcm(session, state)
    takeCommon(session, state)
    return [{ type: 'session.updated', session: { type: 'realtime', object: 'realtime.session' } }]
  },
  speechTimes: 'clock',
  callEvents: 'both',
}

/** Only the rate of PCM counts; everything else is taken for PCM at the rate before. */
const readAsPcm = (session: Json, state: RowSession, defaultHz = 24_000): void => {
  const input = gaFormatOf(memberAt(session, 'audio.input.format'))
  const output = gaFormatOf(memberAt(session, 'audio.output.format'))
  state.input = input?.kind === 'pcm' ? input : { kind: 'pcm', rateHz: defaultHz }
  state.output = output?.kind === 'pcm' ? output : { kind: 'pcm', rateHz: defaultHz }
}

/**
 * huggingface/speech-to-speech, `src/speech_to_speech/api/openai_realtime`: G.711 is taken and read as PCM at
 * 16 kHz, errors have a type and no code, calls from elsewhere need ids that begin with `call_`.
 */
export const speechToSpeech: ServerRow = {
  name: 'Hugging Face speech-to-speech',
  settings: {},
  admits: () => true,
  initial: freshSession({ transcription: 'works', input: { kind: 'pcm', rateHz: 16_000 } }),
  opening: [
    { type: 'session.created', session: { type: 'realtime', audio: { input: {}, output: {} } } },
  ],
  update(session, state) {
    if (session['type'] !== 'realtime')
      return [errorEvent('unknown_or_invalid_event', 'Invalid event.')]
    readAsPcm(session, state, 16_000)
    state.interruptsItself =
      memberAt(session, 'audio.input.turn_detection.interrupt_response') !== false
    takeCommon(session, state)
    return [{ type: 'session.updated', session }]
  },
  speechTimes: 'session',
  callEvents: 'both',
  judgeItem: (item) =>
    item['type'] === 'function_call' && !String(item['call_id']).startsWith('call_')
      ? errorEvent('invalid_conversation_item', 'The call_id should start with call_.')
      : undefined,
  usage: { input_tokens: 12, output_tokens: 7, total_tokens: 19 },
}

/**
 * vllm-project/vllm-omni, `entrypoints/openai/realtime/connection.py`: PCM at 24 kHz or an error, only server VAD,
 * and no transcription at all.
 */
export const vllmOmni: ServerRow = {
  name: 'vLLM-Omni',
  settings: {},
  admits: () => true,
  initial: freshSession(),
  opening: [
    {
      type: 'session.created',
      session: { type: 'realtime', object: 'realtime.session', model: 'Qwen3-Omni' },
    },
    { type: 'conversation.created', conversation: { id: 'conv_1' } },
  ],
  update(session, state) {
    const formats = [
      memberAt(session, 'audio.input.format'),
      memberAt(session, 'audio.output.format'),
    ]
    const isPcm24 = formats.every(
      (format) =>
        memberAt(format, 'type') === 'audio/pcm' && (memberAt(format, 'rate') ?? 24_000) === 24_000,
    )
    if (!isPcm24)
      return [
        errorEvent(
          'invalid_request_error',
          'Only 24 kHz PCM16 input audio is supported',
          'unsupported_audio_format',
        ),
      ]
    const turns = memberAt(session, 'audio.input.turn_detection')
    if (memberAt(turns, 'type') !== 'server_vad')
      return [
        errorEvent(
          'invalid_request_error',
          'Only server_vad turn detection is supported',
          'unsupported_turn_detection',
        ),
      ]
    state.input = pcm24
    state.output = pcm24
    state.interruptsItself = memberAt(turns, 'interrupt_response') !== false
    takeCommon(session, state)
    return [{ type: 'session.updated', session }]
  },
  speechTimes: 'session',
  callEvents: 'both',
  usage: { input_tokens: 20, output_tokens: 9, total_tokens: 29 },
}
