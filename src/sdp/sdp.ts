import type { G711Codec } from '../audio/g711.ts'
import { mayReceive, maySend, type MediaDirection } from './media-direction.ts'
import { randomInt } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { readAudio, readMediaLines, type AudioDescription } from './read-sdp.ts'

/** The result of offer and answer, from our side (RFC 3264). */
export interface AgreedAudio {
  readonly remote: { readonly address: string; readonly port: number }
  readonly codec: G711Codec
  readonly payloadType: number
  /** RFC 4733 payload type, if the peer accepts one. */
  readonly telephoneEventPayloadType?: number
  readonly direction: MediaDirection
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
}

const staticPayloadTypes: Readonly<Record<G711Codec, number>> = { pcmu: 0, pcma: 8 }
const telephoneEventPayloadType = 101
const packetTimeMs = 20

export const createMediaNegotiator = (options: MediaNegotiatorOptions): MediaNegotiator => {
  const codecs = options.codecs ?? ['pcmu', 'pcma']
  const describe = createWriter(options.local)
  let wanted: MediaDirection = 'sendrecv'
  return {
    offer: (direction) => {
      wanted = direction ?? wanted
      return describe([offeredAudio(options.local.port, codecs, wanted)])
    },
    acceptAnswer: (answer) => {
      const audio = readAudio(answer)
      return audio === undefined ? undefined : agree(audio, codecs, wanted)
    },
    answer: (offer) => {
      const audio = readAudio(offer)
      const agreed = audio === undefined ? undefined : agree(audio, codecs, wanted)
      if (audio === undefined || agreed === undefined) return undefined
      return {
        sdp: describe(answeredMedia(offer, audio, agreed, options.local.port)),
        audio: agreed,
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
): string[] => {
  const payloads = codecs.map((codec) => ({ codec, payloadType: staticPayloadTypes[codec] }))
  return audioLines(port, payloads, telephoneEventPayloadType, direction)
}

const audioLines = (
  port: number,
  payloads: readonly { readonly codec: G711Codec; readonly payloadType: number }[],
  eventPayloadType: number | undefined,
  direction: MediaDirection,
): string[] => {
  const events = eventPayloadType === undefined ? [] : [eventPayloadType]
  const types = [...payloads.map(({ payloadType }) => payloadType), ...events]
  return [
    `m=audio ${port} RTP/AVP ${types.join(' ')}`,
    ...payloads.map(
      ({ codec, payloadType }) => `a=rtpmap:${payloadType} ${codec.toUpperCase()}/8000`,
    ),
    ...events.flatMap((type) => [`a=rtpmap:${type} telephone-event/8000`, `a=fmtp:${type} 0-16`]),
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
  readMediaLines(offer).map((line, index) =>
    index === audio.index
      ? audioLines(port, [agreed], agreed.telephoneEventPayloadType, agreed.direction)
      : [`m=${line.type} 0 ${line.protocol} ${line.payloads}`],
  )

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
