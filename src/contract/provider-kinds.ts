/** What a provider speaks (decision D20), by the stage of a conversation that it serves. */
export const providerKinds = {
  stt: ['openai-stt', 'openai-stt-stream', 'deepgram-stt', 'assemblyai-stt', 'soniox-stt'],
  llm: ['openai-chat'],
  tts: ['openai-tts', 'elevenlabs-tts', 'cartesia-tts', 'deepgram-tts'],
} as const

export type ProviderStage = keyof typeof providerKinds
export type TranscriberKind = (typeof providerKinds)['stt'][number]
export type ModelKind = (typeof providerKinds)['llm'][number]
export type SynthesizerKind = (typeof providerKinds)['tts'][number]
export type ProviderKind = TranscriberKind | ModelKind | SynthesizerKind

/** The name of the providers that the environment sets. */
export const environmentProvider = 'env'

/** Whether providers of this kind serve this stage. */
export const isOfStage = <Stage extends ProviderStage>(
  stage: Stage,
  kind: string,
): kind is (typeof providerKinds)[Stage][number] =>
  (providerKinds[stage] as readonly string[]).includes(kind)
