import transform, { type ParsedMedia, type ParsedSession } from 'sdp-transform'
import type { G711Codec } from '../audio/g711.ts'
import { readCryptoLines, type CryptoLine } from './crypto-line.ts'
import { maySend, type MediaDirection } from './media-direction.ts'

/** The first audio stream of a description that we support, from its author's side. */
export interface AudioDescription {
  /** Position among the media lines. */
  readonly index: number
  readonly remote: { readonly address: string; readonly port: number }
  /** In the author's order of preference. */
  readonly codecs: readonly { readonly codec: G711Codec; readonly payloadType: number }[]
  readonly telephoneEventPayloadType?: number
  readonly direction: MediaDirection
  /** Keys of its author, in its order of preference; empty: the audio is not encrypted. */
  readonly crypto: readonly CryptoLine[]
}

/**
 * Whether audio may be encrypted by SRTP with keys in the SDP: `preferred` takes an unencrypted stream where there is
 * no other.
 */
export type SrtpPolicy = 'off' | 'preferred' | 'required'

/** A media line in the form in which the answer must repeat it. */
interface MediaLine {
  readonly type: string
  readonly protocol: string
  readonly payloads: string
}

const maxMediaLines = 16
// A browser's offer with all its candidates has some 200 lines.
const maxLines = 512
const maxLineLength = 4_096

/** The audio stream of an SDP body; `undefined` if none fits the policy. Never throws. */
export const readAudio = (sdp: string, srtp: SrtpPolicy = 'off'): AudioDescription | undefined => {
  const session = parse(sdp)
  const index = session === undefined ? -1 : findStream(session.media, srtp)
  const media = session?.media[index]
  const address = media?.connection?.ip ?? session?.connection?.ip
  if (session === undefined || media === undefined || address === undefined) return undefined
  const payloads = readPayloads(media)
  const events = payloads.find(({ codec }) => codec === 'telephone-event')
  return {
    index,
    remote: { address: String(address), port: media.port },
    codecs: payloads.filter(isG711),
    ...(events === undefined ? {} : { telephoneEventPayloadType: events.payloadType }),
    direction: readDirection(session, media, String(address)),
    crypto: srtp === 'off' ? [] : readCryptoLines(media),
  }
}

/** Whether the audio of an SDP body is offered with keys by DTLS only, which we do not speak (RFC 5763). */
export const wantsDtls = (sdp: string): boolean => {
  const session = parse(sdp)
  const audio = session?.media.filter(({ type, port }) => type === 'audio' && port > 0) ?? []
  return audio.length > 0 && audio.every((media) => isDtls(media, session))
}

const isDtls = (media: ParsedMedia, session: ParsedSession | undefined): boolean =>
  /^UDP\/TLS\//i.test(media.protocol) ||
  (isSecure(media) &&
    readCryptoLines(media).length === 0 &&
    (media.fingerprint ?? session?.fingerprint) !== undefined)

/** SAVP needs a key; under AVP a key is an offer that may be declined. */
const findStream = (media: readonly ParsedMedia[], srtp: SrtpPolicy): number => {
  const hasKey = (each: ParsedMedia): boolean => isAudio(each) && readCryptoLines(each).length > 0
  const isPlain = (each: ParsedMedia): boolean => isAudio(each) && !isSecure(each)
  if (srtp === 'off') return media.findIndex(isPlain)
  const secure = media.findIndex(hasKey)
  return secure >= 0 || srtp === 'required' ? secure : media.findIndex(isPlain)
}

const isSecure = ({ protocol }: ParsedMedia): boolean => /^RTP\/SAVPF?$/i.test(protocol)

/** The media lines of an SDP body, in order; empty for an unreadable one. */
export const readMediaLines = (sdp: string): readonly MediaLine[] =>
  (parse(sdp)?.media ?? []).map(({ type, protocol, payloads }) => ({
    type,
    protocol,
    payloads: String(payloads ?? ''),
  }))

const parse = (sdp: string): ParsedSession | undefined => {
  if (!isOfUsualSize(sdp)) return undefined
  try {
    const session = transform.parse(sdp)
    const isWhole = session.media.every(({ type }) => typeof type === 'string')
    return isWhole && session.media.length <= maxMediaLines ? session : undefined
  } catch {
    return undefined
  }
}

const isOfUsualSize = (sdp: string): boolean => {
  const lines = sdp.split('\n', maxLines + 1)
  return lines.length <= maxLines && lines.every(({ length }) => length <= maxLineLength)
}

const isAudio = (media: ParsedMedia): boolean =>
  media.type === 'audio' &&
  Number.isInteger(media.port) &&
  media.port > 0 &&
  media.port < 65_536 &&
  /^RTP\/S?AVPF?$/i.test(media.protocol)

interface Payload {
  readonly codec: string
  readonly payloadType: number
}

const staticCodecs: ReadonlyMap<number, string> = new Map([
  [0, 'pcmu'],
  [8, 'pcma'],
])

/** Payload types of the media line with their names; 0 and 8 need no rtpmap (RFC 3551 6). Only 8 kHz counts. */
const readPayloads = (media: ParsedMedia): Payload[] =>
  String(media.payloads ?? '')
    .split(/\s+/)
    .filter((written) => /^\d{1,3}$/.test(written) && Number(written) < 128)
    .flatMap((written) => {
      const payloadType = Number(written)
      const map = media.rtp.find(({ payload }) => payload === payloadType)
      if (map === undefined) {
        const codec = staticCodecs.get(payloadType)
        return codec === undefined ? [] : [{ codec, payloadType }]
      }
      return (map.rate ?? 8000) === 8000
        ? [{ codec: String(map.codec).toLowerCase(), payloadType }]
        : []
    })

const isG711 = (payload: Payload): payload is Payload & { readonly codec: G711Codec } =>
  payload.codec === 'pcmu' || payload.codec === 'pcma'

const readDirection = (
  session: ParsedSession,
  media: ParsedMedia,
  address: string,
): MediaDirection => {
  const written = media.direction ?? session.direction ?? 'sendrecv'
  const direction = isDirection(written) ? written : 'sendrecv'
  // Hold as before RFC 3264: the null address means that nothing may be sent there.
  if (address !== '0.0.0.0' && address !== '::') return direction
  return maySend(direction) ? 'sendonly' : 'inactive'
}

const isDirection = (text: string): text is MediaDirection =>
  text === 'sendrecv' || text === 'sendonly' || text === 'recvonly' || text === 'inactive'
