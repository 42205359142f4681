import type { ParsedMedia } from 'sdp-transform'

/** A key in SDP that we can use (RFC 4568): its text is master key and salt in base64. */
export interface CryptoLine {
  readonly tag: number
  readonly suite: SdesSuite
  readonly key: string
}

/** The suites that we speak, with the bytes of master key and salt, in the order in which we offer them. */
export const sdesKeyBytes = {
  AES_CM_128_HMAC_SHA1_80: 30,
  AEAD_AES_128_GCM: 28,
  AES_CM_128_HMAC_SHA1_32: 30,
} as const

export type SdesSuite = keyof typeof sdesKeyBytes

export const sdesSuites = Object.keys(sdesKeyBytes) as readonly SdesSuite[]

const maxCryptoLines = 16

/**
 * The usable `a=crypto` lines of a stream, in order. Lines with another suite, several keys, an MKI or session
 * parameters that change the packets are left out, so that another line is chosen.
 */
export const readCryptoLines = ({ crypto = [] }: ParsedMedia): readonly CryptoLine[] =>
  crypto.slice(0, maxCryptoLines).flatMap(({ id, suite, config, sessionConfig }) => {
    const key = keyOf(suite, config)
    const isPlain = (sessionConfig ?? '').split(/\s+/).every(isHarmless)
    if (!isSdesSuite(suite) || key === undefined || !isPlain) return []
    return Number.isInteger(id) && Number(id) >= 0 ? [{ tag: Number(id), suite, key }] : []
  })

export const writeCryptoLine = ({ tag, suite, key }: CryptoLine): string =>
  `a=crypto:${tag} ${suite} inline:${key}`

const isSdesSuite = (suite: string | undefined): suite is SdesSuite =>
  suite !== undefined && Object.hasOwn(sdesKeyBytes, suite)

/** `inline:KEY`, `inline:KEY|2^48`; a lifetime is longer than any call (RFC 4568 6.1). */
const keyOf = (suite: string | undefined, config = ''): string | undefined => {
  if (!isSdesSuite(suite) || !config.startsWith('inline:') || config.includes(';')) return undefined
  const [key = '', ...parameters] = config.slice('inline:'.length).split('|')
  if (parameters.some((parameter) => parameter.includes(':'))) return undefined
  const bytes = Buffer.from(key, 'base64')
  return bytes.length === sdesKeyBytes[suite] ? bytes.toString('base64') : undefined
}

/** WSH is advice; a leading hyphen marks what may be ignored (RFC 4568 6.3). */
const isHarmless = (parameter: string): boolean =>
  parameter === '' || parameter.startsWith('-') || /^WSH=\d+$/.test(parameter)
