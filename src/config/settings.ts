import { z } from 'zod'
import {
  callBackAnswerText,
  readCallBackAnswer,
  type CallBackAnswer,
} from '../contract/calls-back.ts'
import { maxPasswordLength, minPasswordLength } from '../contract/password-length.ts'
import { realtimeSettings } from './realtime-settings.ts'
import {
  e164,
  networks,
  optional,
  port,
  portRange,
  providerUrl,
  setting,
  optionalText,
  url,
  wholeNumber,
  type Setting,
} from './setting.ts'

/**
 * Every setting of an installation, in groups: each part of the program gets the groups it needs. `npm run docs` generates
 * `.env.example` and the table in `docs/settings.md` from them, and a test compares both.
 */

/** Where the installation stores rows and files. */
const store = {
  dataFolder: setting(
    'OUTDIAL_DATA',
    z.string().min(1).default('.outdial'),
    'Data folder: the embedded database, recordings, spool.',
  ),
  databaseUrl: setting(
    'DATABASE_URL',
    optional(url('postgres', 'postgresql')),
    'PostgreSQL 15 or newer to use instead of the embedded one.',
    { secret: true },
  ),
} as const

/** The HTTP servers. */
const http = {
  host: setting(
    'OUTDIAL_HOST',
    z.string().min(1).default('127.0.0.1'),
    'Address the HTTP ports listen on.',
  ),
  apiPort: setting('OUTDIAL_API_PORT', port.prefault('4000'), 'Port of the API.'),
  dashboardPort: setting('OUTDIAL_DASHBOARD_PORT', port.prefault('4001'), 'Port of the dashboard.'),
  mediaPort: setting('OUTDIAL_MEDIA_PORT', port.prefault('4002'), 'Port of recording downloads.'),
  metricsPort: setting(
    'OUTDIAL_METRICS_PORT',
    optional(port),
    'Private port of the metrics for Prometheus, `GET /metrics`; without it there is none.',
    { shown: 'none' },
  ),
  metricsHost: setting(
    'OUTDIAL_METRICS_HOST',
    z.string().min(1).default('127.0.0.1'),
    'Address that the port of the metrics listens on; whoever reaches it can read them.',
  ),
  trustedProxies: setting(
    'OUTDIAL_TRUSTED_PROXIES',
    optional(networks),
    'Proxies in front of the HTTP ports, addresses and networks: their `X-Forwarded-For` counts, and their connections are not capped per address.',
    { shown: 'none' },
  ),
  publicApiUrl: setting(
    'OUTDIAL_PUBLIC_API_URL',
    optional(url('http', 'https')),
    'What clients are told the API is.',
    {
      shown: 'from the port',
    },
  ),
  requestLogDays: setting(
    'OUTDIAL_REQUEST_LOG_DAYS',
    wholeNumber(0, 365).prefault('7'),
    'Days that the API’s requests are kept for the dashboard, masked; 0 keeps none.',
  ),
  publicDashboardUrl: setting(
    'OUTDIAL_PUBLIC_DASHBOARD_URL',
    optional(url('http', 'https')),
    'Where browsers reach the dashboard; only pages of this origin may change something.',
    { shown: 'from the port' },
  ),
  publicMediaUrl: setting(
    'OUTDIAL_PUBLIC_MEDIA_URL',
    optional(url('http', 'https')),
    'What clients are told download URLs begin with.',
    { shown: 'from the port' },
  ),
} as const

/** The account that a first start makes. */
const admin = {
  email: setting(
    'OUTDIAL_ADMIN_EMAIL',
    optional(z.email('must be an e-mail address')),
    'E-mail address of the first owner; made once, together with its password, and never changed after.',
  ),
  password: setting(
    'OUTDIAL_ADMIN_PASSWORD',
    optional(
      z
        .string()
        .min(minPasswordLength, `must have at least ${minPasswordLength} characters`)
        .max(maxPasswordLength, `must have at most ${maxPasswordLength} characters`),
    ),
    'Password of that account.',
    { secret: true },
  ),
} as const

/** The trunk, and the local end of SIP and RTP. */
const sip = {
  trunk: setting(
    'OUTDIAL_SIP_TRUNK',
    optional(z.string().regex(/^sips?:/, 'must begin with sip:')),
    'The trunk of live organizations, `sip:[user[:password]@]host[:port][;transport=udp|tcp|tls]`.',
    { secret: true },
  ),
  allow: setting(
    'OUTDIAL_SIP_ALLOW',
    optional(networks),
    'Addresses and networks that SIP is taken from beside the trunk’s own, such as `192.0.2.7,198.51.100.0/24`.',
  ),
  callerId: setting(
    'OUTDIAL_CALLER_ID',
    optional(e164),
    'Number that callees of live organizations without numbers of their own are shown, E.164; sandbox organizations show a fictional one.',
  ),
  port: setting('OUTDIAL_SIP_PORT', port.prefault('0'), 'Local SIP port; 0 is any free one.'),
  tlsCertificate: setting(
    'OUTDIAL_SIP_TLS_CERT',
    optionalText,
    'File with our TLS certificate and its chain, PEM: SIP also listens on TLS, and trunks that ask for a client certificate get it.',
  ),
  tlsKey: setting(
    'OUTDIAL_SIP_TLS_KEY',
    optionalText,
    'File with the key of that certificate, PEM.',
  ),
  tlsPort: setting(
    'OUTDIAL_SIP_TLS_PORT',
    optional(port),
    'Local port of SIP over TLS, with a certificate.',
    { shown: 'the one after `OUTDIAL_SIP_PORT`' },
  ),
  tlsAuthorities: setting(
    'OUTDIAL_SIP_TLS_CA',
    optionalText,
    'File with the authorities, PEM, that a trunk’s certificate must come from, in place of the system’s.',
  ),
  tlsName: setting(
    'OUTDIAL_SIP_TLS_NAME',
    optionalText,
    'Name that the trunk’s certificate must have.',
    { shown: 'the host of `OUTDIAL_SIP_TRUNK`' },
  ),
  tlsMinVersion: setting(
    'OUTDIAL_SIP_TLS_MIN',
    z.enum(['1.2', '1.3']).prefault('1.2'),
    'Oldest TLS version that is accepted from a trunk.',
  ),
  tlsVerify: setting(
    'OUTDIAL_SIP_TLS_VERIFY',
    z.enum(['required', 'insecure']).prefault('required'),
    '`insecure` takes any certificate of the trunk: its calls and password can then be read on the way.',
  ),
  rtpPorts: setting(
    'OUTDIAL_RTP_PORTS',
    portRange.prefault('10000-20000'),
    'Range of local RTP ports.',
  ),
  publicAddress: setting(
    'OUTDIAL_PUBLIC_IP',
    optional(z.union([z.ipv4(), z.ipv6()], 'must be an IP address')),
    'Address put into Contact and SDP.',
    { shown: 'the address that reaches the trunk' },
  ),
  rtpAddress: setting(
    'OUTDIAL_RTP_ADDRESS',
    optional(z.union([z.ipv4(), z.ipv6()], 'must be an IP address')),
    'Local address of the RTP ports of live calls.',
    { shown: 'that of SIP' },
  ),
  rtpPublicAddress: setting(
    'OUTDIAL_RTP_PUBLIC_IP',
    optional(z.union([z.ipv4(), z.ipv6()], 'must be an IP address')),
    'Address put into SDP, where it is another than `OUTDIAL_PUBLIC_IP`.',
    { shown: 'OUTDIAL_PUBLIC_IP' },
  ),
} as const

/** Limits on calls: how many, how fast, and how long they ring. */
const dialing = {
  maxChannels: setting(
    'OUTDIAL_MAX_CHANNELS',
    wholeNumber(1, 10_000).prefault('100'),
    'Calls this node holds at a time, of sandbox and live organizations together; each node adds its own.',
  ),
  trunkChannels: setting(
    'OUTDIAL_TRUNK_CHANNELS',
    optional(wholeNumber(1, 100_000)),
    'Calls at a time on the trunk, over all nodes.',
    { shown: 'as many as the nodes hold' },
  ),
  callsPerSecond: setting(
    'OUTDIAL_MAX_CPS',
    optional(wholeNumber(1, 1000)),
    'Calls started per second, over all nodes: on the trunk, and on the sandbox carrier.',
    {
      shown: '10; sandbox: 50',
    },
  ),
  ringTimeoutSeconds: setting(
    'OUTDIAL_RING_TIMEOUT_SECONDS',
    wholeNumber(1, 60).prefault('45'),
    'How long a phone rings before the attempt is given up; 60 at most.',
  ),
  maxHoldSeconds: setting(
    'OUTDIAL_MAX_HOLD_SECONDS',
    wholeNumber(1, 3600).prefault('300'),
    'How long a callee may hold the line before the call is ended.',
  ),
} as const

/** Calls of people to our numbers. */
const callsBack = {
  answer: setting(
    'OUTDIAL_CALLS_BACK',
    callBackAnswerText
      .transform((written) => readCallBackAnswer(written) as CallBackAnswer)
      .prefault('decline'),
    'What people get who call one of our numbers: `decline[:480|486|603]`, `message:TEXT` or `forward:NUMBER-OR-SIP-ADDRESS`; an organization may say otherwise.',
  ),
  channels: setting(
    'OUTDIAL_CALLS_BACK_CHANNELS',
    wholeNumber(0, 200).prefault('4'),
    'Callers that this node lets hear a message at a time, beside `OUTDIAL_MAX_CHANNELS` and the channels of the trunk; further ones get 486.',
  ),
} as const

/** The voice engines and their servers. */
const engines = {
  kind: setting(
    'OUTDIAL_ENGINE',
    z.enum(['sandbox', 'realtime', 'cascade'], 'must be sandbox, realtime or cascade').optional(),
    'Voice engine; an agent may bring its own. Live organizations have the scripted one only where this says `sandbox`.',
    { shown: 'sandbox; live organizations: none' },
  ),
  realtime: realtimeSettings,
  stt: {
    url: setting('OUTDIAL_STT_URL', providerUrl, 'OpenAI-compatible transcription server, `…/v1`.'),
    key: setting('OUTDIAL_STT_KEY', optionalText, 'Its key.', { secret: true }),
    model: setting('OUTDIAL_STT_MODEL', optionalText, 'Its model.'),
  },
  llm: {
    url: setting(
      'OUTDIAL_LLM_URL',
      providerUrl,
      'OpenAI-compatible chat server, `…/v1`; also writes summaries where set.',
    ),
    key: setting('OUTDIAL_LLM_KEY', optionalText, 'Its key.', { secret: true }),
    model: setting('OUTDIAL_LLM_MODEL', optionalText, 'Its model.'),
  },
  tts: {
    url: setting('OUTDIAL_TTS_URL', providerUrl, 'OpenAI-compatible speech server, `…/v1`.'),
    key: setting('OUTDIAL_TTS_KEY', optionalText, 'Its key.', { secret: true }),
    model: setting('OUTDIAL_TTS_MODEL', optionalText, 'Its model.'),
    voice: setting('OUTDIAL_TTS_VOICE', optionalText, 'Its voice.'),
  },
} as const

/** The bucket for recordings, if they are not stored in the data folder. */
const bucket = {
  name: setting(
    'OUTDIAL_S3_BUCKET',
    optionalText,
    'Bucket for recordings; without it they are kept in the data folder.',
  ),
  endpoint: setting('OUTDIAL_S3_ENDPOINT', providerUrl, 'S3 server other than Amazon’s.'),
  region: setting(
    'OUTDIAL_S3_REGION',
    z.string().min(1).default('us-east-1'),
    'Region of the bucket.',
  ),
  prefix: setting(
    'OUTDIAL_S3_PREFIX',
    optional(
      z
        .string()
        .regex(/^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/, 'must be a path such as outdial/recordings'),
    ),
    'Put before the name of every object, such as `outdial/recordings`.',
  ),
  accessKeyId: setting(
    'OUTDIAL_S3_ACCESS_KEY_ID',
    optionalText,
    'Its key; without it, what the machine is allowed.',
  ),
  secretAccessKey: setting(
    'OUTDIAL_S3_SECRET_ACCESS_KEY',
    optionalText,
    'The secret of that key.',
    {
      secret: true,
    },
  ),
  usesPathStyle: setting(
    'OUTDIAL_S3_FORCE_PATH_STYLE',
    optional(z.enum(['0', '1'], 'must be 0 or 1').transform((value) => value === '1')),
    'Put the bucket into the path and not into the host name.',
    { shown: '1 with an endpoint' },
  ),
} as const

/** The process itself. */
const program = {
  secretKey: setting(
    'OUTDIAL_SECRET_KEY',
    optional(
      z
        .string()
        .regex(
          /^[A-Za-z0-9+/]{43}=$/,
          'must be 32 bytes in base64, such as `openssl rand -base64 32` prints',
        ),
    ),
    'Key that encrypts the secrets of trunks in the database, 32 bytes in base64; the same on every node.',
    { secret: true, shown: 'the file `secret-key` in the data folder, made at its first use' },
  ),
  pricesFile: setting(
    'OUTDIAL_PRICES',
    optionalText,
    'JSON file with what models cost, by their name; `docs/agents.md` shows one.',
  ),
  drainSeconds: setting(
    'OUTDIAL_DRAIN_SECONDS',
    wholeNumber(0, 3600).prefault('120'),
    'How long live calls may go on after SIGTERM.',
  ),
  allowPrivateNetwork: setting(
    'OUTDIAL_ALLOW_PRIVATE_NETWORK',
    z
      .enum(['0', '1'], 'must be 0 or 1')
      .prefault('0')
      .transform((value) => value === '1'),
    'Allow private and loopback addresses in what a tenant enters.',
    { shown: '0' },
  ),
  logLevel: setting(
    'OUTDIAL_LOG_LEVEL',
    z
      .enum(
        ['debug', 'info', 'warn', 'error', 'silent'],
        'must be debug, info, warn, error or silent',
      )
      .default('info'),
    'What goes to stderr.',
  ),
} as const

export const settings = {
  store,
  http,
  admin,
  sip,
  dialing,
  callsBack,
  engines,
  bucket,
  program,
} as const

/** A group has settings and other groups. */
export interface SettingGroup {
  readonly [member: string]: Setting<unknown> | SettingGroup
}

export const isSetting = (member: Setting<unknown> | SettingGroup): member is Setting<unknown> =>
  'schema' in member && 'meaning' in member

/** All settings of a group and of the groups in it, in the order of the documents. */
export const settingsOf = (group: SettingGroup): Setting<unknown>[] =>
  Object.values(group).flatMap((member) => (isSetting(member) ? [member] : settingsOf(member)))
