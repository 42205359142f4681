import { z } from 'zod'

/* What an administrator sets for a trunk (D16), as files, commands and the dashboard write it. */

/** Headers that the protocol, the identity or the digest write: a custom one of the same name would contradict them. */
const protectedHeaders: ReadonlySet<string> = new Set(
  [
    'via v from f to t call-id i cseq contact m max-forwards route record-route content-length l content-type c',
    'content-encoding e authorization proxy-authorization www-authenticate proxy-authenticate supported k require',
    'proxy-require allow session-expires x min-se rack rseq event o expires date refer-to r referred-by b replaces',
    'p-asserted-identity p-preferred-identity privacy diversion user-agent path service-route mime-version accept',
    'target-dialog identity y',
  ].flatMap((line) => line.split(' ')),
)

const token = /^[A-Za-z0-9!%*_+`'~.-]{1,64}$/
// Printable text without line ends: nothing of it can begin another header.
const printable = /^[^\p{Cc}\p{Cs}]*$/u
const oneLine = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .regex(printable, 'It must be one line of printable characters: remove control characters.')

const trunkUri = z
  .string()
  .max(300)
  .regex(
    /^sips?:(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?::[0-9]{1,5})?(?:;transport=(?:udp|tcp|tls))?$/,
    'It must be sip:host[:port][;transport=udp|tcp|tls], without user and password: use --user and --password-file.',
  )
  .refine((text) => {
    const port = /:(\d{1,5})(?:;|$)/.exec(text.replace(/^sips?:(?:\[[^\]]*\])?/, ''))?.[1]
    return port === undefined || (Number(port) > 0 && Number(port) < 65_536)
  }, 'The port must be from 1 to 65535.')
  .refine(
    (text) => !text.startsWith('sips:') || !/;transport=(udp|tcp)$/.test(text),
    'A sips URI is always reached by tls: write sip: or leave the transport out.',
  )

const hostName = z
  .string()
  .max(253)
  .regex(
    /^(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)$/,
    'It must be a host name or an address.',
  )

const uriUser = z
  .string()
  .max(128)
  .regex(
    /^(?:[A-Za-z0-9_.!~*'()&=+$,;?/-]|%[0-9A-Fa-f]{2})+$/,
    'It must be the user part of a SIP URI, such as 12025550100 or account-1.',
  )

const country = z.string().regex(/^[A-Z]{2}$/, 'It must be a country code of ISO 3166 such as US.')

const header = z
  .string()
  .max(500)
  .regex(printable, 'A header must not contain line ends or other control characters.')
  .refine(
    (text) => token.test(text.split(':', 1)[0] ?? '') && /:\s*\S/.test(text),
    'A header must be written as Name: value.',
  )
  .refine(
    (text) => !protectedHeaders.has((text.split(':', 1)[0] ?? '').trim().toLowerCase()),
    'This header belongs to the protocol and cannot be set: choose another name, such as X-Account.',
  )

const pem = z
  .string()
  .max(64 * 1024)
  .regex(/-----BEGIN [A-Z0-9 ]+-----/, 'It must be a PEM file.')

const maxUris = 8

const unique = (values: readonly unknown[]): boolean => new Set(values).size === values.length

/** What nodes load; the limits of dispatch are columns of their own. */
export const trunkSettings = z.strictObject({
  uris: z
    .array(trunkUri)
    .max(maxUris)
    .refine(
      (uris) => uris.length > 0,
      'It must have at least one URI: sip:host[:port][;transport=udp|tcp|tls].',
    )
    .refine(unique, 'The same URI stands twice: remove one.'),
  user: oneLine(128).optional(),
  realm: oneLine(253).optional(),
  from_user: uriUser.optional(),
  from_domain: hostName.optional(),
  identity: z.enum(['none', 'pai', 'ppi']).default('none'),
  privacy: z.enum(['none', 'id']).default('none'),
  diversion: z
    .string()
    .regex(/^\+[1-9]\d{6,14}$/, 'It must be an E.164 number such as +12025550100.')
    .optional(),
  number_format: z
    .string()
    .regex(
      /^(?:plus|e164|national|prefix:[0-9*#+A-Da-d]{1,16})$/,
      'It must be plus, e164, national or prefix:P, where P are digits, * or #.',
    )
    .default('plus'),
  strip: z.int().min(0).max(10).default(0),
  headers: z.array(header).max(20).default([]),
  outbound_proxy: trunkUri.optional(),
  /** Hosts that a 3xx may lead to, with the same number; without any a 3xx ends the call. */
  redirect_to: z
    .array(hostName)
    .max(20)
    .refine(unique, 'A host stands twice: remove one.')
    .optional(),
  codecs: z
    .array(z.enum(['pcmu', 'pcma']))
    .min(1)
    .refine(unique, 'A codec stands twice: remove one.')
    .default(['pcmu', 'pcma']),
  srtp: z.enum(['off', 'preferred', 'required']).default('off'),
  dtmf: z.enum(['rfc4733', 'info', 'inband', 'auto']).default('auto'),
  media: z.enum(['declared', 'symmetric']).default('declared'),
  auth: z.enum(['rfc2069', 'md5', 'sha-256', 'sha-512-256']).optional(),
  register: z.boolean().default(false),
  register_seconds: z.int().min(60).max(86_400).default(600),
  tls: z
    .strictObject({
      ca: pem.optional(),
      certificate: pem.optional(),
      /** The name to check instead of the host of the URI. */
      server_name: hostName.optional(),
      min_version: z.enum(['TLSv1.2', 'TLSv1.3']).default('TLSv1.2'),
      verify: z.boolean().default(true),
    })
    .optional(),
  preset: z.string().max(40).optional(),
})

export type TrunkSettings = z.output<typeof trunkSettings>

const organizationId = z.uuid('It must be the id of an organization.')

/** A whole trunk but for its name and password. */
export const trunkInput = trunkSettings
  .extend({
    priority: z.int().min(0).max(1000).default(10),
    weight: z.int().min(1).max(1000).default(1),
    channels: z.int().min(1).max(100_000).nullable().default(null),
    cps: z.number().min(0.1).max(1000).default(10),
    countries: z.union([z.literal('all'), z.array(country).min(1).max(250)]).default('all'),
    organizations: z
      .union([z.literal('all'), z.array(organizationId).min(1).max(1000)])
      .default('all'),
  })
  .superRefine((trunk, check) => {
    const needed = (path: string, message: string) =>
      check.addIssue({ code: 'custom', path: [path], message })
    if (trunk.register && trunk.user === undefined)
      needed('register', 'Registration needs a user: set --user and --password-file too.')
    if (trunk.tls?.verify === false && trunk.tls.server_name !== undefined)
      needed(
        'tls',
        'A name is checked only where certificates are verified: remove one of the two.',
      )
  })

export type TrunkInput = z.input<typeof trunkInput>
export type TrunkValues = z.output<typeof trunkInput>

/** Names stand in commands, logs and metrics. `env` is the trunk of the environment. */
export const trunkName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,62}$/,
    'A name has 1 to 63 lower-case letters, digits, - and _, and begins with a letter or digit.',
  )

export const environmentTrunk = 'env'
