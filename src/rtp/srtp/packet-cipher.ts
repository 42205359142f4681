import { createCipheriv, createDecipheriv } from 'node:crypto'
import { createHmacSha1 } from './hmac-sha1.ts'
import { deriveSessionKeys } from './key-derivation.ts'
import { srtpSuites, type SrtpSuiteName } from './suites.ts'

/** What SDES carries for one direction (RFC 4568 6.1): `key` is master key and salt, one after the other. */
export interface SrtpKey {
  readonly suite: SrtpSuiteName
  readonly key: Uint8Array
}

/** Protects packets of one kind (RTP or RTCP) under one master key. The index is the caller's affair. */
interface PacketCipher {
  readonly tagBytes: number
  /**
   * Encrypts `body`, and authenticates it with `head` and `tail`. RTP has the index as `tail`, which is not sent; RTCP
   * sends it. The result is the encrypted body and the tag, which the next call may overwrite.
   */
  seal(parts: CipherParts, body: Uint8Array): { readonly body: Buffer; readonly tag: Uint8Array }
  /** The body; `undefined` if the tag is wrong. */
  open(parts: CipherParts, body: Uint8Array, tag: Uint8Array): Buffer | undefined
  /** Checks the tag of a body that is not encrypted (RTCP without its E bit). */
  isAuthentic(parts: CipherParts, body: Uint8Array, tag: Uint8Array): boolean
}

interface CipherParts {
  readonly head: Uint8Array
  readonly ssrc: number
  /** 48 bits for RTP, 31 bits for RTCP. */
  readonly index: number
  readonly tail: Uint8Array
}

export const createPacketCipher = ({ suite, key }: SrtpKey, kind: 'rtp' | 'rtcp'): PacketCipher => {
  const { cipher, keyBytes, tagBytes, rtcpTagBytes } = srtpSuites[suite]
  const keys = deriveSessionKeys(key.subarray(0, keyBytes), key.subarray(keyBytes), kind)
  const ownTagBytes = kind === 'rtp' ? tagBytes : rtcpTagBytes
  return cipher === 'gcm'
    ? createGcm(keys.encryption, keys.salt, kind)
    : createCounterMode(keys, ownTagBytes)
}

const blockBytes = 16
const maxBlocks = 128
/** Longer than any packet of a call: a stranger's is not even authenticated. */
const maxPacketBytes = blockBytes * maxBlocks

/**
 * AES in counter mode (RFC 3711 4.1.1). A cipher object for each packet would cost four times as much as the
 * encryption: one persistent ECB cipher makes the key stream from the counters instead.
 */
const createCounterMode = (
  {
    encryption,
    authentication,
    salt,
  }: Readonly<Record<'encryption' | 'authentication' | 'salt', Buffer>>,
  tagBytes: number,
): PacketCipher => {
  const blockCipher = createCipheriv('aes-128-ecb', encryption, null).setAutoPadding(false)
  const counters = Buffer.alloc(blockBytes * maxBlocks)
  const words = new DataView(counters.buffer, counters.byteOffset, counters.length)
  const saltWords = [0, 4, 8].map((at) => salt.readUInt32BE(at))
  const lastSalt = salt.readUInt16BE(12)
  const hmac = createHmacSha1(authentication)

  /** The counters of RFC 3711 4.1.1, encrypted. */
  const keyStream = (ssrc: number, index: number, bytes: number): Buffer => {
    const end = Math.ceil(bytes / blockBytes) * blockBytes
    const first = saltWords[0]!
    const second = saltWords[1]! ^ ssrc
    const third = saltWords[2]! ^ Math.floor(index / 2 ** 16)
    const fourth = (lastSalt ^ (index & 0xffff)) << 16
    for (let at = 0; at < end; at += blockBytes) {
      words.setInt32(at, first)
      words.setInt32(at + 4, second)
      words.setInt32(at + 8, third)
      words.setInt32(at + 12, fourth | (at / blockBytes))
    }
    return blockCipher.update(counters.subarray(0, end))
  }

  const crypt = ({ ssrc, index }: CipherParts, body: Uint8Array): Buffer => {
    if (body.length > maxBlocks * blockBytes) throw new Error('A packet is too long for SRTP.')
    const out = Buffer.allocUnsafe(body.length)
    if (body.length === 0) return out
    const stream = keyStream(ssrc, index, body.length)
    for (let at = 0; at < body.length; at++) out[at] = body[at]! ^ stream[at]!
    return out
  }
  const isAuthentic: PacketCipher['isAuthentic'] = ({ head, tail }, body, tag) => {
    if (tag.length !== tagBytes || head.length + body.length > maxPacketBytes) return false
    const own = hmac(head, body, tail)
    let differences = 0
    // As long for a wrong tag as for a right one: no byte ends the comparison.
    for (let at = 0; at < tagBytes; at++) differences |= own[at]! ^ tag[at]!
    return differences === 0
  }

  return {
    tagBytes,
    seal: (parts, body) => {
      const sealed = crypt(parts, body)
      return { body: sealed, tag: hmac(parts.head, sealed, parts.tail).subarray(0, tagBytes) }
    },
    open: (parts, body, tag) => (isAuthentic(parts, body, tag) ? crypt(parts, body) : undefined),
    isAuthentic,
  }
}

const gcmTagBytes = 16
const gcmNonceBytes = 12

/** AES-GCM (RFC 7714 8 and 9). Node has no persistent GCM cipher: each packet makes one. */
const createGcm = (key: Buffer, salt: Buffer, kind: 'rtp' | 'rtcp'): PacketCipher => {
  const nonce = Buffer.alloc(gcmNonceBytes)
  const nonceOf = ({ ssrc, index }: CipherParts): Buffer => {
    nonce.fill(0)
    nonce.writeUInt32BE(ssrc, 2)
    if (kind === 'rtp') nonce.writeUIntBE(index, 6, 6)
    else nonce.writeUInt32BE(index, 8)
    for (let at = 0; at < gcmNonceBytes; at++) nonce[at]! ^= salt[at]!
    return nonce
  }
  /** The index of RTP is in the nonce; that of RTCP is sent, and authenticated as well. */
  const associated = ({ head, tail }: CipherParts, plain?: Uint8Array): Uint8Array =>
    kind === 'rtp' ? head : Buffer.concat(plain ? [head, plain, tail] : [head, tail])

  const decipher = (
    parts: CipherParts,
    associatedData: Uint8Array,
    body: Uint8Array,
    tag: Uint8Array,
  ): Buffer | undefined => {
    if (tag.length !== gcmTagBytes) return undefined
    const opened = createDecipheriv('aes-128-gcm', key, nonceOf(parts), {
      authTagLength: gcmTagBytes,
    })
    opened.setAAD(associatedData).setAuthTag(tag)
    const out = opened.update(body)
    try {
      opened.final()
      return out
    } catch {
      return undefined
    }
  }

  return {
    tagBytes: gcmTagBytes,
    seal: (parts, body) => {
      const cipher = createCipheriv('aes-128-gcm', key, nonceOf(parts), {
        authTagLength: gcmTagBytes,
      })
      cipher.setAAD(associated(parts))
      const sealed = cipher.update(body)
      cipher.final()
      return { body: sealed, tag: cipher.getAuthTag() }
    },
    open: (parts, body, tag) => decipher(parts, associated(parts), body, tag),
    isAuthentic: (parts, body, tag) =>
      decipher(parts, associated(parts, body), new Uint8Array(), tag) !== undefined,
  }
}
