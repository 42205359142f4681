import type { G711Codec } from '../audio/g711.ts'
import { mayReceive, maySend, type MediaDirection } from './media-direction.ts'
import { randomInt } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { writeCryptoLine, type CryptoLine, type SdesSuite } from './crypto-line.ts'
import { createOwnKeys, type OwnKeys } from './own-keys.ts'
import { readAudio, readMediaLines, type AudioDescription, type SrtpPolicy } from './read-sdp.ts'

/** The result of offer and answer, from our side (RFC 3264). */
export interface AgreedAudio {
  readonly remote: { readonly address: string; readonly port: number }
  readonly codec: G711Codec
  readonly payloadType: number
  /** RFC 4733 payload type, if the peer accepts one. */
  readonly telephoneEventPayloadType?: number
  /** The one of our own description: the peer sends keys with it (RFC 3264 5.1). */
  readonly ownTelephoneEventPayloadType?: number
  readonly direction: MediaDirection
  /** Keys of SRTP; absent: the audio is not encrypted. */
  readonly srtp?: AgreedSrtp
}

/** Master key and salt of each direction, base64. */
export interface AgreedSrtp {
  readonly suite: SdesSuite
  readonly ownKey: string
  readonly theirKey: string
}

/**
 * One side of offer and answer for one call: G.711 and telephone-event on one audio stream. The origin line keeps its
 * session id, and its version rises by one whenever the description changes (RFC 3264 8).
 */
export interface MediaNegotiator {
  /** Our offer. The direction is our wish from now on; by default our previous one. */
  offer(direction?: MediaDirection): string
  /** Reads the answer to our last offer; `undefined` if audio was refused or no codec is common. */
  acceptAnswer(answer: string): AgreedAudio | undefined
  /** Answers an offer; `undefined` if nothing in it is acceptable (488). */
  answer(offer: string): { readonly sdp: string; readonly audio: AgreedAudio } | undefined
}

interface MediaNegotiatorOptions {
  /** The address of our RTP socket. */
  readonly local: { readonly address: string; readonly port: number }
  /** Our codecs, best first. */
  readonly codecs?: readonly G711Codec[]
  /** By default `off`. */
  readonly srtp?: SrtpPolicy
}

const staticPayloadTypes: Readonly<Record<G711Codec, number>> = { pcmu: 0, pcma: 8 }
const telephoneEventPayloadType = 101
const packetTimeMs = 20

export const createMediaNegotiator = (options: MediaNegotiatorOptions): MediaNegotiator => {
  const codecs = options.codecs ?? ['pcmu', 'pcma']
  const srtp = options.srtp ?? 'off'
  const keys = createOwnKeys()
  const describe = createWriter(options.local)
  let wanted: MediaDirection = 'sendrecv'
  return {
    offer: (direction) => {
      wanted = direction ?? wanted
      const crypto = srtp === 'off' ? [] : keys.offered()
      // Under RTP/AVP a key is an offer that the other side may decline.
      const protocol = srtp === 'required' ? 'RTP/SAVP' : 'RTP/AVP'
      return describe([offeredAudio(options.local.port, codecs, wanted, { crypto, protocol })])
    },
    acceptAnswer: (answer) => {
      const audio = readAudio(answer, srtp)
      const agreed = audio === undefined ? undefined : agree(audio, codecs, wanted)
      if (audio === undefined || agreed === undefined) return undefined
      // The answer chooses one of our lines; another suite under its tag is no answer (RFC 4568 5.1.3).
      const [theirs] = audio.crypto
      const offered = keys.offered().find(({ tag }) => tag === theirs?.tag)
      if (theirs !== undefined && offered?.suite !== theirs.suite) return undefined
      const own = withOwnEvents(agreed, telephoneEventPayloadType)
      return theirs === undefined ? own : { ...own, srtp: agreedKeys(theirs, keys) }
    },
    answer: (offer) => {
      const audio = readAudio(offer, srtp)
      const plain = audio === undefined ? undefined : agree(audio, codecs, wanted)
      if (audio === undefined || plain === undefined) return undefined
      const [theirs] = audio.crypto
      if (theirs !== undefined) keys.agreed(theirs)
      const agreed = theirs === undefined ? plain : { ...plain, srtp: agreedKeys(theirs, keys) }
      return {
        sdp: describe(answeredMedia(offer, audio, agreed, options.local.port)),
        // Our answer repeats the number of the offer.
        audio: withOwnEvents(agreed, agreed.telephoneEventPayloadType),
      }
    },
  }
}

const agree = (
  theirs: AudioDescription,
  codecs: readonly G711Codec[],
  wanted: MediaDirection,
): AgreedAudio | undefined => {
  // The other side's order decides, because it is what it wants to receive (RFC 3264 6.1).
  const chosen = theirs.codecs.find(({ codec }) => codecs.includes(codec))
  if (chosen === undefined) return undefined
  return {
    remote: theirs.remote,
    codec: chosen.codec,
    payloadType: chosen.payloadType,
    ...(theirs.telephoneEventPayloadType === undefined
      ? {}
      : { telephoneEventPayloadType: theirs.telephoneEventPayloadType }),
    direction: meet(wanted, theirs.direction),
  }
}

const agreedKeys = ({ suite, key }: CryptoLine, keys: OwnKeys): AgreedSrtp => ({
  suite,
  ownKey: keys.of(suite),
  theirKey: key,
})

/** Keys are sent to us under the number of our description, if the other side sends any. */
const withOwnEvents = (agreed: AgreedAudio, own: number | undefined): AgreedAudio =>
  own === undefined || agreed.telephoneEventPayloadType === undefined
    ? agreed
    : { ...agreed, ownTelephoneEventPayloadType: own }

/** Our direction once theirs is known: we send only what they receive, and vice versa (RFC 3264 6.1). */
const meet = (ours: MediaDirection, theirs: MediaDirection): MediaDirection => {
  const sends = maySend(ours) && mayReceive(theirs)
  const receives = mayReceive(ours) && maySend(theirs)
  if (sends) return receives ? 'sendrecv' : 'sendonly'
  return receives ? 'recvonly' : 'inactive'
}

const offeredAudio = (
  port: number,
  codecs: readonly G711Codec[],
  direction: MediaDirection,
  transport: StreamTransport,
): string[] => {
  const payloads = codecs.map((codec) => ({ codec, payloadType: staticPayloadTypes[codec] }))
  return audioLines(port, payloads, telephoneEventPayloadType, direction, transport)
}

interface StreamTransport {
  readonly protocol: string
  readonly crypto: readonly CryptoLine[]
}

const audioLines = (
  port: number,
  payloads: readonly { readonly codec: G711Codec; readonly payloadType: number }[],
  eventPayloadType: number | undefined,
  direction: MediaDirection,
  { protocol, crypto }: StreamTransport,
): string[] => {
  const events = eventPayloadType === undefined ? [] : [eventPayloadType]
  const types = [...payloads.map(({ payloadType }) => payloadType), ...events]
  return [
    `m=audio ${port} ${protocol} ${types.join(' ')}`,
    ...payloads.map(
      ({ codec, payloadType }) => `a=rtpmap:${payloadType} ${codec.toUpperCase()}/8000`,
    ),
    ...events.flatMap((type) => [`a=rtpmap:${type} telephone-event/8000`, `a=fmtp:${type} 0-16`]),
    ...crypto.map(writeCryptoLine),
    `a=ptime:${packetTimeMs}`,
    `a=${direction}`,
  ]
}

/** Every media line of the offer is answered in its place; all but the chosen audio with port 0 (RFC 3264 6). */
const answeredMedia = (
  offer: string,
  audio: AudioDescription,
  agreed: AgreedAudio,
  port: number,
): string[][] =>
  readMediaLines(offer).map((line, index) => {
    if (index !== audio.index) return [`m=${line.type} 0 ${line.protocol} ${line.payloads}`]
    const [theirs] = audio.crypto
    const { srtp, telephoneEventPayloadType: events, direction } = agreed
    const crypto = theirs && srtp ? [{ ...theirs, key: srtp.ownKey }] : []
    // The protocol of the offer is repeated, RTP/AVPF as well (RFC 3264 6).
    return audioLines(port, [agreed], events, direction, { protocol: line.protocol, crypto })
  })

/** Writes whole descriptions with a constant origin; the version rises only when something changed (RFC 3264 8). */
const createWriter = ({
  address,
}: {
  readonly address: string
}): ((media: string[][]) => string) => {
  const sessionId = randomInt(1, 2 ** 47)
  const family = isIPv6(address) ? 'IP6' : 'IP4'
  let version = 0
  let previous = ''
  return (media) => {
    const body = media.flat().join('\r\n')
    if (body !== previous) version += 1
    previous = body
    const head = [
      'v=0',
      `o=- ${sessionId} ${version} IN ${family} ${address}`,
      's=-',
      `c=IN ${family} ${address}`,
      't=0 0',
    ]
    return `${head.join('\r\n')}\r\n${body}\r\n`
  }
}
