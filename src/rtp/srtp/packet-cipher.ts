import {
  createCipheriv,
  createDecipheriv,
  createHash,
  timingSafeEqual,
  type Hash,
} from 'node:crypto'
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
   * sends it. The result is the encrypted body and the tag.
   */
  seal(parts: CipherParts, body: Uint8Array): { readonly body: Buffer; readonly tag: Buffer }
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
  const iv = Buffer.alloc(blockBytes)
  const hmac = createHmacSha1(authentication)

  const keyStream = (ssrc: number, index: number, bytes: number): Buffer => {
    const blocks = Math.ceil(bytes / blockBytes)
    iv.fill(0)
    salt.copy(iv)
    iv.writeUInt32BE((iv.readUInt32BE(4) ^ ssrc) >>> 0, 4)
    const high = Math.floor(index / 2 ** 32)
    iv.writeUInt16BE(iv.readUInt16BE(8) ^ high, 8)
    iv.writeUInt32BE((iv.readUInt32BE(10) ^ (index % 2 ** 32)) >>> 0, 10)
    for (let block = 0; block < blocks; block++) {
      iv[14] = block >> 8
      iv[15] = block
      iv.copy(counters, block * blockBytes)
    }
    return blockCipher.update(counters.subarray(0, blocks * blockBytes))
  }

  const crypt = ({ ssrc, index }: CipherParts, body: Uint8Array): Buffer => {
    if (body.length > maxBlocks * blockBytes) throw new Error('A packet is too long for SRTP.')
    const out = Buffer.allocUnsafe(body.length)
    if (body.length === 0) return out
    const stream = keyStream(ssrc, index, body.length)
    for (let at = 0; at < body.length; at++) out[at] = body[at]! ^ stream[at]!
    return out
  }
  const tagOf = ({ head, tail }: CipherParts, sealed: Uint8Array): Buffer =>
    hmac(head, sealed, tail).subarray(0, tagBytes)
  const isAuthentic: PacketCipher['isAuthentic'] = (parts, body, tag) =>
    tag.length === tagBytes && timingSafeEqual(tagOf(parts, body), tag)

  return {
    tagBytes,
    seal: (parts, body) => {
      const sealed = crypt(parts, body)
      return { body: sealed, tag: tagOf(parts, sealed) }
    },
    open: (parts, body, tag) => (isAuthentic(parts, body, tag) ? crypt(parts, body) : undefined),
    isAuthentic,
  }
}

const hashBlockBytes = 64

/** HMAC-SHA1 (RFC 2104) whose two padded keys are hashed once: a copy of their state costs less than a new HMAC. */
const createHmacSha1 = (key: Uint8Array): ((...parts: readonly Uint8Array[]) => Buffer) => {
  const padded = (byte: number): Hash => {
    const block = Buffer.alloc(hashBlockBytes, byte)
    for (const [at, each] of key.entries()) block[at]! ^= each
    return createHash('sha1').update(block)
  }
  const inner = padded(0x36)
  const outer = padded(0x5c)
  return (...parts) => {
    const hash = inner.copy()
    for (const part of parts) hash.update(part)
    return outer.copy().update(hash.digest()).digest()
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
