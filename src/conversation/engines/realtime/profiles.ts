import { randomUUID } from 'node:crypto'
import { g711Wire, pcmWire, type WireFormat } from './wire-audio.ts'

/** The differences between servers of the Realtime protocol, as data. */
export interface RealtimeProfile {
  readonly name: string
  /** Its known hosts; a self-hosted server is named in the URL's fragment (`ws://host/v1/realtime#speaches`). */
  readonly hosts: RegExp | undefined
  readonly keyHeader: 'authorization' | 'api-key'
  /** What stands before the key in `authorization`. */
  readonly keyScheme: 'Bearer' | 'Basic'
  /** The query parameter that names the model, or the session's own member `model`. */
  readonly modelPlace: 'model' | 'deployment' | 'session'
  /** Query parameters of the session; made anew for each. */
  readonly query?: () => Readonly<Record<string, string>>
  /** The format of its session settings; `described`: the format in its own `session.created`. */
  readonly dialect: Dialect | 'described'
  /** In the order in which they are tried. Servers that take PCM only often take G.711 for PCM without a word. */
  readonly formats: readonly WireFormat[]
  /** Whether the format that the server reports counts more than the one it was asked for. */
  readonly reportsFormat: boolean
  readonly transcription: TranscriptionDefault
  /**
   * `session`: of the audio that the session heard. `arrival`: its times count from something else, so that the
   * arrival of the event tells more.
   */
  readonly speechTimes: 'session' | 'arrival'
  /** How long until the server ends a session, without warning. */
  readonly sessionCapMs: number | undefined
  readonly headers: Readonly<Record<string, string>>
}

/**
 * How a server is asked for the callee's words where no model is set. `model`: this one. `language`: its own model
 * in this language. `none`: it needs no request, or would refuse or ignore it. `described`: by a model only where
 * its description shows none.
 */
type TranscriptionDefault =
  | { readonly kind: 'model' | 'described'; readonly model: string }
  | { readonly kind: 'language' | 'none' }

/**
 * `ga`: audio settings under `audio`; `beta`: flat, as before 2025-08; `xai`: as `ga`, but voice and turns at the
 * top level; `qwen`: as `beta`, with its own names of formats, nested functions and fewer members.
 */
export type Dialect = 'ga' | 'beta' | 'xai' | 'qwen'

const minuteMs = 60_000
const openaiTranscriber = 'gpt-4o-mini-transcribe'

const openai: RealtimeProfile = {
  name: 'openai',
  hosts: /^api\.openai\.com$/,
  keyHeader: 'authorization',
  keyScheme: 'Bearer',
  modelPlace: 'model',
  dialect: 'ga',
  formats: [g711Wire, pcmWire(24_000, 24_000)],
  reportsFormat: false,
  transcription: { kind: 'model', model: openaiTranscriber },
  speechTimes: 'session',
  sessionCapMs: 60 * minuteMs,
  headers: {},
}

/** Its transcription model is the name of a deployment, which nobody but the operator knows. */
const azure: RealtimeProfile = {
  ...openai,
  name: 'azure',
  hosts: /\.(?:openai\.azure\.com|cognitiveservices\.azure\.com|services\.ai\.azure\.com)$/,
  keyHeader: 'api-key',
  transcription: { kind: 'none' },
  sessionCapMs: 30 * minuteMs,
}

/** The endpoint before `/openai/v1`: `/openai/realtime?api-version=…-preview`. */
const azurePreview: RealtimeProfile = {
  ...azure,
  name: 'azure-preview',
  hosts: undefined,
  modelPlace: 'deployment',
  dialect: 'beta',
  transcription: { kind: 'model', model: 'whisper-1' },
}

const xai: RealtimeProfile = {
  ...openai,
  name: 'xai',
  hosts: /^api\.x\.ai$/,
  dialect: 'xai',
  transcription: { kind: 'model', model: 'grok-transcribe' },
}

/** Each connection names a session of its own; the model is a member of the session. */
const inworld: RealtimeProfile = {
  ...openai,
  name: 'inworld',
  hosts: /^api\.inworld\.ai$/,
  keyScheme: 'Basic',
  modelPlace: 'session',
  query: () => ({ key: randomUUID(), protocol: 'realtime' }),
  formats: [pcmWire(24_000, 24_000)],
  transcription: { kind: 'none' },
}

const qwen: RealtimeProfile = {
  ...openai,
  name: 'qwen',
  hosts: /(?:^|\.)(?:dashscope(?:-intl|-us)?\.aliyuncs\.com|maas\.aliyuncs\.com)$/,
  dialect: 'qwen',
  formats: [pcmWire(16_000, 24_000)],
  transcription: { kind: 'none' },
  sessionCapMs: undefined,
}

/** Self-hosted servers run a pipeline at 24 kHz and set no time limit on a session. */
const localai: RealtimeProfile = {
  ...openai,
  name: 'localai',
  hosts: undefined,
  dialect: 'described',
  formats: [pcmWire(24_000, 24_000)],
  transcription: { kind: 'language' },
  // It reports the clock's time since the connection, during which the phone rang.
  speechTimes: 'arrival',
  sessionCapMs: undefined,
}

/** It counts times from the end of the last speech. */
const speaches: RealtimeProfile = {
  ...localai,
  name: 'speaches',
  dialect: 'beta',
  transcription: { kind: 'none' },
  sessionCapMs: 30 * minuteMs,
  headers: { 'openai-beta': 'realtime=v1' },
}

/** Any other server: its own description decides, and it is sent PCM first. */
const generic: RealtimeProfile = {
  ...localai,
  name: 'generic',
  formats: [pcmWire(24_000, 24_000), pcmWire(16_000, 16_000), g711Wire],
  reportsFormat: true,
  transcription: { kind: 'described', model: openaiTranscriber },
  speechTimes: 'session',
}

const profiles: readonly RealtimeProfile[] = [
  openai,
  azure,
  azurePreview,
  xai,
  inworld,
  qwen,
  localai,
  speaches,
  generic,
]

/** By the URL's fragment, else by its host. */
export const profileFor = (url: URL): RealtimeProfile => {
  const named = profiles.find(({ name }) => name === url.hash.slice(1))
  if (named) return named
  const known = profiles.find(({ hosts }) => hosts?.test(url.hostname)) ?? generic
  const isPreview = known === azure && url.searchParams.has('api-version')
  return isPreview ? azurePreview : known
}

/** The address to connect to, and its headers. */
export const addressOf = (
  url: URL,
  profile: RealtimeProfile,
  { key, model }: { readonly key?: string; readonly model?: string },
): { readonly address: URL; readonly headers: Readonly<Record<string, string>> } => {
  const address = new URL(url)
  address.hash = ''
  const { modelPlace, keyHeader, keyScheme } = profile
  for (const [name, value] of Object.entries(profile.query?.() ?? {}))
    if (!address.searchParams.has(name)) address.searchParams.set(name, value)
  if (model !== undefined && modelPlace !== 'session') address.searchParams.set(modelPlace, model)
  if (key === undefined) return { address, headers: profile.headers }
  const value = keyHeader === 'authorization' ? `${keyScheme} ${key}` : key
  return { address, headers: { ...profile.headers, [keyHeader]: value } }
}
