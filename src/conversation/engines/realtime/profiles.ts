/** The differences between servers of the Realtime protocol, as data. */
export interface RealtimeProfile {
  readonly name: string
  /** Its known hosts; a self-hosted server is named in the URL's fragment (`ws://host/v1/realtime#speaches`). */
  readonly hosts: RegExp | undefined
  readonly keyHeader: 'authorization' | 'api-key'
  /** Query parameter that names the model. */
  readonly modelParameter: 'model' | 'deployment'
  /** The format of its session settings; `described`: the format in its own `session.created`. */
  readonly dialect: Dialect | 'described'
  /** `described`: G.711, unless the server reports another input format. */
  readonly wireFormat: 'g711' | 'pcm16' | 'described'
  /** How long until the server ends a session, without warning. */
  readonly sessionCapMs: number | undefined
  readonly headers: Readonly<Record<string, string>>
}

/**
 * `ga`: audio settings under `audio`; `beta`: flat, as before 2025-08; `xai`: as `ga`, but voice and turns at the
 * top level.
 */
export type Dialect = 'ga' | 'beta' | 'xai'

const minuteMs = 60_000

const openai: RealtimeProfile = {
  name: 'openai',
  hosts: /^api\.openai\.com$/,
  keyHeader: 'authorization',
  modelParameter: 'model',
  dialect: 'ga',
  wireFormat: 'g711',
  sessionCapMs: 60 * minuteMs,
  headers: {},
}

const azure: RealtimeProfile = {
  ...openai,
  name: 'azure',
  hosts: /\.(?:openai\.azure\.com|cognitiveservices\.azure\.com|services\.ai\.azure\.com)$/,
  keyHeader: 'api-key',
  sessionCapMs: 30 * minuteMs,
}

/** The endpoint before `/openai/v1`: `/openai/realtime?api-version=…-preview`. */
const azurePreview: RealtimeProfile = {
  ...azure,
  name: 'azure-preview',
  hosts: undefined,
  modelParameter: 'deployment',
  dialect: 'beta',
}

const xai: RealtimeProfile = {
  ...openai,
  name: 'xai',
  hosts: /^api\.x\.ai$/,
  dialect: 'xai',
}

/** Self-hosted servers run a pipeline at 24 kHz and set no time limit on a session. */
const localai: RealtimeProfile = {
  ...openai,
  name: 'localai',
  hosts: undefined,
  dialect: 'described',
  wireFormat: 'pcm16',
  sessionCapMs: undefined,
}

const speaches: RealtimeProfile = {
  ...localai,
  name: 'speaches',
  dialect: 'beta',
  headers: { 'openai-beta': 'realtime=v1' },
}

/** Any other server: its own description decides. */
const generic: RealtimeProfile = { ...localai, name: 'generic', wireFormat: 'described' }

const profiles: readonly RealtimeProfile[] = [
  openai,
  azure,
  azurePreview,
  xai,
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
  if (model !== undefined) address.searchParams.set(profile.modelParameter, model)
  if (key === undefined) return { address, headers: profile.headers }
  const value = profile.keyHeader === 'authorization' ? `Bearer ${key}` : key
  return { address, headers: { ...profile.headers, [profile.keyHeader]: value } }
}
