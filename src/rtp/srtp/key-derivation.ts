import { createCipheriv } from 'node:crypto'

/** The keys of one direction and one kind of packet. */
interface SessionKeys {
  readonly encryption: Buffer
  readonly authentication: Buffer
  readonly salt: Buffer
}

const authenticationKeyBytes = 20

/** RFC 3711 4.3.2: the label of each key; RTCP has its own three. */
const labels = {
  rtp: { encryption: 0, authentication: 1, salt: 2 },
  rtcp: { encryption: 3, authentication: 4, salt: 5 },
} as const

/**
 * The session keys of a master key and salt (RFC 3711 4.3, key derivation rate 0). A salt of 12 bytes (GCM) is padded
 * with zeros to 14 (RFC 7714 11).
 */
export const deriveSessionKeys = (
  masterKey: Uint8Array,
  masterSalt: Uint8Array,
  kind: 'rtp' | 'rtcp',
): SessionKeys => {
  const derive = (label: number, bytes: number): Buffer => {
    const iv = Buffer.alloc(16)
    iv.set(masterSalt)
    iv[7]! ^= label
    const cipher = createCipheriv('aes-128-ctr', masterKey, iv)
    return cipher.update(Buffer.alloc(bytes))
  }
  return {
    encryption: derive(labels[kind].encryption, masterKey.length),
    authentication: derive(labels[kind].authentication, authenticationKeyBytes),
    salt: derive(labels[kind].salt, masterSalt.length),
  }
}
