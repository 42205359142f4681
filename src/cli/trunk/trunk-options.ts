import { readFileSync } from 'node:fs'
import { InvalidArgumentError, Option, type Command } from 'commander'
import type { SecretChange } from '../../domains/trunks/edit-trunks.ts'
import type { TrunkInput } from '../../domains/trunks/trunk-settings.ts'
import { OperatorError } from '../../domains/organizations/operator-error.ts'
import { commaList, parseWholeNumber } from '../option-values.ts'
import type { OutputOptions } from '../terminal/output.ts'

/** The options of `trunk add` and `trunk set`, as commander hands them over. */
export interface TrunkOptions extends OutputOptions {
  readonly uri?: readonly string[]
  readonly priority?: number
  readonly weight?: number
  readonly channels?: number | 'none'
  readonly cps?: number
  readonly srtp?: TrunkInput['srtp']
  readonly dtmf?: TrunkInput['dtmf']
  readonly media?: TrunkInput['media']
  readonly auth?: TrunkInput['auth']
  readonly register?: boolean
  readonly registerSeconds?: number
  readonly outboundProxy?: string
  readonly redirectTo?: readonly string[]
  readonly user?: string
  readonly realm?: string
  readonly fromUser?: string
  readonly fromDomain?: string
  readonly identity?: TrunkInput['identity']
  readonly privacy?: TrunkInput['privacy']
  readonly diversion?: string
  readonly numberFormat?: string
  readonly strip?: number
  readonly header?: readonly string[]
  readonly codecs?: readonly string[]
  readonly countries?: readonly string[]
  readonly org?: readonly string[]
  readonly passwordFile?: string
  readonly tlsCa?: string
  readonly tlsCertificate?: string
  readonly tlsKey?: string
  readonly tlsServerName?: string
  readonly tlsMinVersion?: 'TLSv1.2' | 'TLSv1.3'
  readonly tlsInsecure?: boolean
}

const collect = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  text,
]

const parseRate = (text: string): number => {
  if (!/^\d{1,4}(\.\d{1,3})?$/.test(text)) throw new InvalidArgumentError('It must be a number.')
  return Number(text)
}

const channelsOrNone = (text: string): number | 'none' =>
  text === 'none' ? 'none' : parseWholeNumber(text)

/** Adds what a trunk can be given; an empty value takes a text away again. */
export const withTrunkOptions = (command: Command): Command =>
  command
    .option(
      '--uri <uri...>',
      'gateway, sip:host[:port][;transport=udp|tcp|tls] (repeatable, tried in this order)',
    )
    .option('--priority <n>', 'lower goes first (10)', parseWholeNumber)
    .option('--weight <n>', 'share among trunks of one priority (1)', parseWholeNumber)
    .option('--channels <k>', 'calls at once over all nodes, or none for no limit', channelsOrNone)
    .option('--cps <r>', 'calls started per second over all nodes (10)', parseRate)
    .addOption(
      new Option('--srtp <mode>', 'encryption of audio').choices(['off', 'preferred', 'required']),
    )
    .addOption(
      new Option('--dtmf <mode>', 'how keys are sent').choices([
        'auto',
        'rfc4733',
        'info',
        'inband',
      ]),
    )
    .addOption(
      new Option('--media <rule>', 'where audio may come from').choices(['declared', 'symmetric']),
    )
    .addOption(
      new Option('--auth <weakest>', 'weakest digest that is answered').choices([
        'rfc2069',
        'md5',
        'sha-256',
        'sha-512-256',
      ]),
    )
    .option('--register', 'register the user at each gateway')
    .option('--no-register', 'do not register')
    .option('--register-seconds <n>', 'how long a registration lasts (600)', parseWholeNumber)
    .option('--outbound-proxy <uri>', 'where every request goes first')
    .option(
      '--redirect-to <hosts>',
      'hosts that a 3xx may lead to, such as edge1.example,edge2.example; "" for none',
      commaList,
    )
    .option('--user <user>', 'user of the password')
    .option('--realm <realm>', 'the only realm that gets the password')
    .option('--from-user <user>', 'user of From, instead of the caller ID')
    .option('--from-domain <domain>', 'domain of From, instead of the gateway’s host')
    .addOption(
      new Option('--identity <header>', 'header with the caller ID').choices([
        'none',
        'pai',
        'ppi',
      ]),
    )
    .addOption(
      new Option('--privacy <mode>', 'id hides the caller ID from the callee').choices([
        'none',
        'id',
      ]),
    )
    .option('--diversion <number>', 'number in Diversion, E.164')
    .option('--number-format <format>', 'plus, e164, national or prefix:P')
    .option(
      '--strip <n>',
      'digits taken from the front of the number before the prefix',
      parseWholeNumber,
    )
    .option('--header <header>', 'own header, "Name: value" (repeatable; "" for none)', collect)
    .option('--codecs <list>', 'codecs, best first, such as pcma,pcmu', commaList)
    .option('--countries <list>', 'countries that it serves, such as US,CA, or all', commaList)
    .option(
      '--org <org>',
      'live organization that may use it (repeatable; all for every one)',
      collect,
    )
    .option('--password-file <file>', 'file with the password; "" removes it')
    .option('--tls-ca <file>', 'authorities that the gateway’s certificate must come from (PEM)')
    .option('--tls-certificate <file>', 'our client certificate (PEM)')
    .option('--tls-key <file>', 'its key (PEM)')
    .option('--tls-server-name <name>', 'name that the gateway’s certificate must have')
    .addOption(
      new Option('--tls-min-version <version>', 'oldest TLS').choices(['TLSv1.2', 'TLSv1.3']),
    )
    .option(
      '--tls-insecure',
      'take any certificate: password and calls can then be read on the way',
    )
    .option('--json', 'print JSON')

/** The members that were given, in the shape of a trunk. */
export const inputOf = (options: TrunkOptions, before?: TrunkInput['tls']): Partial<TrunkInput> => {
  const { org, countries, channels, header } = options
  const tls = tlsOf(options, before)
  const values = {
    uris: options.uri && [...options.uri],
    priority: options.priority,
    weight: options.weight,
    channels: channels === 'none' ? null : channels,
    cps: options.cps,
    srtp: options.srtp,
    dtmf: options.dtmf,
    media: options.media,
    auth: options.auth,
    register: options.register,
    register_seconds: options.registerSeconds,
    outbound_proxy: options.outboundProxy,
    redirect_to: options.redirectTo && [...options.redirectTo],
    user: options.user,
    realm: options.realm,
    from_user: options.fromUser,
    from_domain: options.fromDomain,
    identity: options.identity,
    privacy: options.privacy,
    diversion: options.diversion,
    number_format: options.numberFormat,
    strip: options.strip,
    headers: header?.filter((line) => line !== ''),
    codecs: options.codecs,
    countries: countries?.length === 1 && countries[0] === 'all' ? 'all' : countries,
    organizations: org?.length === 1 && org[0] === 'all' ? 'all' : org,
    tls,
  }
  // The domain checks every value; here only what was not given is left out, and what is to go is unset.
  return Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, value === '' ? undefined : value]),
  ) as Partial<TrunkInput>
}

/** Passwords and keys, read from their files. */
export const secretsOf = ({ passwordFile, tlsKey }: TrunkOptions): SecretChange => ({
  ...(passwordFile !== undefined && {
    password: passwordFile === '' ? null : readText(passwordFile).replace(/\r?\n$/, ''),
  }),
  ...(tlsKey !== undefined && { tls_key: tlsKey === '' ? null : readText(tlsKey) }),
})

const tlsOf = (options: TrunkOptions, before: TrunkInput['tls']): TrunkInput['tls'] => {
  const { tlsCa, tlsCertificate, tlsServerName, tlsMinVersion, tlsInsecure } = options
  const given = [tlsCa, tlsCertificate, tlsServerName, tlsMinVersion, tlsInsecure]
  if (given.every((each) => each === undefined)) return undefined
  const text = (file: string | undefined, old: string | undefined) =>
    file === undefined ? old : file === '' ? undefined : readText(file)
  const values = {
    ...before,
    ca: text(tlsCa, before?.ca),
    certificate: text(tlsCertificate, before?.certificate),
    server_name: tlsServerName === '' ? undefined : (tlsServerName ?? before?.server_name),
    min_version: tlsMinVersion ?? before?.min_version,
    verify: tlsInsecure === undefined ? before?.verify : !tlsInsecure,
  }
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as TrunkInput['tls']
}

const readText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new OperatorError(`${file} cannot be read: ${(error as Error).message}.`)
  }
}
