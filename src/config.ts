import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { z } from 'zod'
import { readEnvFile } from './env-file.ts'
import { nearestWord } from './runtime/nearest-word.ts'
import { parseNetworks } from './runtime/networks.ts'

/**
 * One setting of an installation. This file is the only reader of the environment; `.env.example` and the table in
 * `docs/settings.md` are made from the same list, and compared in a test.
 */
export interface Setting<T> {
  readonly schema: z.ZodType<T, string | undefined>
  readonly meaning: string
  /** What the documents show where the schema's default is computed. */
  readonly shown?: string
  /** Also readable from the file that `NAME_FILE` names, and never printed. */
  readonly secret?: true
}

const setting = <T>(
  schema: z.ZodType<T, string | undefined>,
  meaning: string,
  more: { shown?: string; secret?: true } = {},
): Setting<T> => ({ schema, meaning, ...more })

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`)

const port = wholeNumber(0, 65_535)
const e164 = z.string().regex(/^\+[1-9]\d{7,14}$/, 'must be an E.164 number such as +12025550199')
const url = (...protocols: string[]) =>
  z.string().refine(
    (text) => {
      const parsed = URL.parse(text)
      return parsed !== null && protocols.includes(parsed.protocol.slice(0, -1))
    },
    `must be a URL beginning with ${protocols.map((name) => `${name}://`).join(' or ')}`,
  )

const portRange = z
  .string()
  .regex(/^\d{1,5}-\d{1,5}$/, 'must be a range such as 10000-20000')
  .transform((text) => {
    const [min = 0, max = 0] = text.split('-').map(Number)
    return { min, max }
  })
  .refine(
    ({ min, max }) => min >= 1024 && max <= 65_535 && max - min >= 3,
    'must lie within 1024-65535 and hold at least four ports',
  )

const networks = z.string().transform((text, context) => {
  try {
    return parseNetworks(text)
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message })
    return z.NEVER
  }
})

const optional = <T>(schema: z.ZodType<T, string>) => schema.optional()
const providerUrl = optional(url('http', 'https'))
const text = optional(z.string())

export const settings = {
  OUTDIAL_DATA: setting(
    z.string().min(1).default('.outdial'),
    'Data folder: the embedded database, recordings, spool.',
  ),
  DATABASE_URL: setting(
    optional(url('postgres', 'postgresql')),
    'PostgreSQL 15 or newer to use instead of the embedded one.',
    { secret: true },
  ),
  OUTDIAL_HOST: setting(
    z.string().min(1).default('127.0.0.1'),
    'Address the HTTP ports listen on.',
  ),
  OUTDIAL_API_PORT: setting(port.prefault('4000'), 'Port of the API.'),
  OUTDIAL_DASHBOARD_PORT: setting(
    port.prefault('4001'),
    'Port kept for a dashboard; this version has none.',
  ),
  OUTDIAL_MEDIA_PORT: setting(port.prefault('4002'), 'Port of recording downloads.'),
  OUTDIAL_TRUSTED_PROXIES: setting(
    optional(networks),
    'Proxies in front of the HTTP ports, addresses and networks: their `X-Forwarded-For` counts, and their connections are not capped per address.',
    { shown: 'none' },
  ),
  OUTDIAL_PUBLIC_API_URL: setting(
    optional(url('http', 'https')),
    'What clients are told the API is.',
    {
      shown: 'from the port',
    },
  ),
  OUTDIAL_PUBLIC_MEDIA_URL: setting(
    optional(url('http', 'https')),
    'What clients are told download URLs begin with.',
    { shown: 'from the port' },
  ),
  OUTDIAL_SIP_TRUNK: setting(
    optional(z.string().regex(/^sips?:/, 'must begin with sip:')),
    'The trunk of live organizations, `sip:[user[:password]@]host[:port][;transport=udp|tcp|tls]`.',
    { secret: true },
  ),
  OUTDIAL_SIP_ALLOW: setting(
    optional(networks),
    'Addresses and networks that SIP is taken from beside the trunk’s own, such as `192.0.2.7,198.51.100.0/24`.',
  ),
  OUTDIAL_CALLER_ID: setting(
    optional(e164),
    'Number that callees of live organizations are shown, E.164; sandbox organizations show a fictional one.',
  ),
  OUTDIAL_SIP_PORT: setting(port.prefault('0'), 'Local SIP port; 0 is any free one.'),
  OUTDIAL_RTP_PORTS: setting(portRange.prefault('10000-20000'), 'Range of local RTP ports.'),
  OUTDIAL_PUBLIC_IP: setting(
    optional(z.union([z.ipv4(), z.ipv6()], 'must be an IP address')),
    'Address put into Contact and SDP.',
    { shown: 'the address that reaches the trunk' },
  ),
  OUTDIAL_MAX_CHANNELS: setting(
    wholeNumber(1, 10_000).prefault('100'),
    'Calls this node holds at a time, of sandbox and live organizations together; each node adds its own.',
  ),
  OUTDIAL_TRUNK_CHANNELS: setting(
    optional(wholeNumber(1, 100_000)),
    'Calls at a time on the trunk, over all nodes.',
    { shown: 'as many as the nodes hold' },
  ),
  OUTDIAL_MAX_CPS: setting(
    optional(wholeNumber(1, 1000)),
    'Calls started per second, over all nodes: on the trunk, and on the sandbox carrier.',
    {
      shown: '10; sandbox: 50',
    },
  ),
  OUTDIAL_RING_TIMEOUT_SECONDS: setting(
    wholeNumber(1, 60).prefault('45'),
    'How long a phone rings before the attempt is given up; 60 at most.',
  ),
  OUTDIAL_ENGINE: setting(
    z.enum(['sandbox', 'realtime', 'cascade'], 'must be sandbox, realtime or cascade').optional(),
    'Voice engine; an agent may bring its own. Live organizations have the scripted one only where this says `sandbox`.',
    { shown: 'sandbox; live organizations: none' },
  ),
  OUTDIAL_REALTIME_URL: setting(optional(url('ws', 'wss')), 'Realtime-protocol server.'),
  OUTDIAL_REALTIME_KEY: setting(text, 'Its key.', { secret: true }),
  OUTDIAL_REALTIME_MODEL: setting(text, 'Its model.'),
  OUTDIAL_REALTIME_VOICE: setting(text, 'Its voice.'),
  OUTDIAL_STT_URL: setting(providerUrl, 'OpenAI-compatible transcription server, `…/v1`.'),
  OUTDIAL_STT_KEY: setting(text, 'Its key.', { secret: true }),
  OUTDIAL_STT_MODEL: setting(text, 'Its model.'),
  OUTDIAL_LLM_URL: setting(
    providerUrl,
    'OpenAI-compatible chat server, `…/v1`; also writes summaries where set.',
  ),
  OUTDIAL_LLM_KEY: setting(text, 'Its key.', { secret: true }),
  OUTDIAL_LLM_MODEL: setting(text, 'Its model.'),
  OUTDIAL_TTS_URL: setting(providerUrl, 'OpenAI-compatible speech server, `…/v1`.'),
  OUTDIAL_TTS_KEY: setting(text, 'Its key.', { secret: true }),
  OUTDIAL_TTS_MODEL: setting(text, 'Its model.'),
  OUTDIAL_TTS_VOICE: setting(text, 'Its voice.'),
  OUTDIAL_S3_BUCKET: setting(
    text,
    'Bucket for recordings; without it they are kept in the data folder.',
  ),
  OUTDIAL_S3_ENDPOINT: setting(providerUrl, 'S3 server other than Amazon’s.'),
  OUTDIAL_S3_REGION: setting(z.string().min(1).default('us-east-1'), 'Region of the bucket.'),
  OUTDIAL_S3_PREFIX: setting(
    optional(
      z
        .string()
        .regex(/^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/, 'must be a path such as outdial/recordings'),
    ),
    'Put before the name of every object, such as `outdial/recordings`.',
  ),
  OUTDIAL_S3_ACCESS_KEY_ID: setting(text, 'Its key; without it, what the machine is allowed.'),
  OUTDIAL_S3_SECRET_ACCESS_KEY: setting(text, 'The secret of that key.', { secret: true }),
  OUTDIAL_S3_FORCE_PATH_STYLE: setting(
    optional(z.enum(['0', '1'], 'must be 0 or 1').transform((value) => value === '1')),
    'Put the bucket into the path and not into the host name.',
    { shown: '1 with an endpoint' },
  ),
  OUTDIAL_PRICES: setting(
    text,
    'JSON file with what models cost, by their name; `docs/agents.md` shows one.',
  ),
  OUTDIAL_DRAIN_SECONDS: setting(
    wholeNumber(0, 3600).prefault('120'),
    'How long live calls may go on after SIGTERM.',
  ),
  OUTDIAL_ALLOW_PRIVATE_NETWORK: setting(
    z
      .enum(['0', '1'], 'must be 0 or 1')
      .prefault('0')
      .transform((value) => value === '1'),
    'Allow private and loopback addresses in what a tenant enters.',
    { shown: '0' },
  ),
  OUTDIAL_LOG_LEVEL: setting(
    z
      .enum(
        ['debug', 'info', 'warn', 'error', 'silent'],
        'must be debug, info, warn, error or silent',
      )
      .default('info'),
    'What goes to stderr.',
  ),
} as const

type Settings = typeof settings
export type Config = { readonly [Name in keyof Settings]: z.output<Settings[Name]['schema']> }

/** A setting that cannot be used; the message says which, why and what to do. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor(...problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/**
 * Puts what `.env` in the working folder says into the environment, which goes before it. Answers where the names stand
 * whose values come from it.
 * @throws ConfigError that names each wrong line
 */
export const loadEnvFile = (): ReadonlyMap<string, string> => {
  const { values, places, problems } = readEnvFile(process.cwd(), problemOfName)
  if (problems.length > 0) throw new ConfigError(...problems)
  const taken = Object.keys(values).filter((name) => process.env[name] === undefined)
  for (const name of taken) process.env[name] = values[name]
  return new Map([...places].filter(([name]) => taken.includes(name)))
}

/**
 * Reads and checks every setting.
 * @throws ConfigError that names each wrong setting, with the nearest name for an unknown one
 */
export const readConfig = (
  env: Readonly<Record<string, string | undefined>> = process.env,
  places: ReadonlyMap<string, string> = new Map(),
): Config => {
  const problems = unknownNames(env)
  const entries = Object.entries(settings).map(([name, entry]) => {
    try {
      const value = valueOf(name, entry, env)
      const parsed = entry.schema.safeParse(value)
      if (parsed.success) return [name, parsed.data]
      problems.push(
        `${placeOf(name, places)}${name} ${parsed.error.issues[0]?.message ?? 'is not valid'}.`,
      )
    } catch (error) {
      problems.push(error instanceof ConfigError ? error.message : String(error))
    }
    return [name, undefined]
  })
  if (problems.length > 0) throw new ConfigError(...problems)
  const config = Object.fromEntries(entries) as Config
  const missing = [...missingServers(config), ...halfStorage(config)]
  if (missing.length > 0) throw new ConfigError(...missing)
  return { ...config, OUTDIAL_DATA: resolve(config.OUTDIAL_DATA) }
}

/** Before what is wrong with a value: where it stands, unless that is the environment. */
const placeOf = (name: string, places: ReadonlyMap<string, string>): string => {
  const place = places.get(name)
  return place === undefined ? '' : `${place}: `
}

/** An engine without its servers would refuse every call later; better said now. */
const missingServers = (config: Config): string[] => {
  const needed = {
    sandbox: [],
    realtime: ['OUTDIAL_REALTIME_URL'],
    cascade: ['OUTDIAL_STT_URL', 'OUTDIAL_LLM_URL', 'OUTDIAL_TTS_URL'],
  } as const
  return needed[config.OUTDIAL_ENGINE ?? 'sandbox']
    .filter((name) => config[name] === undefined)
    .map((name) => `${name} must be set, as OUTDIAL_ENGINE is ${config.OUTDIAL_ENGINE}.`)
}

/** Settings of a bucket that would quietly do nothing. */
const halfStorage = (config: Config): string[] => {
  const key = config.OUTDIAL_S3_ACCESS_KEY_ID !== undefined
  const secret = config.OUTDIAL_S3_SECRET_ACCESS_KEY !== undefined
  const isMeant = key || secret || config.OUTDIAL_S3_ENDPOINT !== undefined
  return [
    ...(isMeant && config.OUTDIAL_S3_BUCKET === undefined
      ? ['OUTDIAL_S3_BUCKET must be set, as other OUTDIAL_S3_ settings are.']
      : []),
    ...(key === secret
      ? []
      : [
          'OUTDIAL_S3_ACCESS_KEY_ID and OUTDIAL_S3_SECRET_ACCESS_KEY go together; set both or none.',
        ]),
  ]
}

const valueOf = (
  name: string,
  entry: Setting<unknown>,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined => {
  const direct = env[name] === '' ? undefined : env[name]
  const file = entry.secret ? env[`${name}_FILE`] : undefined
  if (file === undefined || file === '') return direct
  if (direct !== undefined)
    throw new ConfigError(`${name} and ${name}_FILE are both set; keep one.`)
  const content = readSecret(name, file)
  if (content === '') throw new ConfigError(`${name}_FILE names an empty file: ${file}.`)
  return content
}

const readSecret = (name: string, file: string): string => {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new ConfigError(`${name}_FILE cannot be read: ${(error as Error).message}.`)
  }
}

const knownNames = new Set(
  Object.entries(settings).flatMap(([name, entry]: [string, Setting<unknown>]) =>
    entry.secret ? [name, `${name}_FILE`] : [name],
  ),
)

const unknownNames = (env: Readonly<Record<string, string | undefined>>): string[] =>
  Object.keys(env).flatMap((name) => problemOfName(name) ?? [])

/** What is wrong with a name: ours begin with OUTDIAL_, and those that do are known. */
export const problemOfName = (name: string): string | undefined =>
  name.startsWith('OUTDIAL_') && !knownNames.has(name)
    ? `${name} is not a setting; did you mean ${nearestWord(name, knownNames)}? docs/settings.md lists them all.`
    : undefined
