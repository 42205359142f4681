/** The crypto suites that we speak (RFC 4568 6.2, RFC 7714 12), as SDES names them. */
export type SrtpSuiteName =
  'AES_CM_128_HMAC_SHA1_80' | 'AES_CM_128_HMAC_SHA1_32' | 'AEAD_AES_128_GCM'

interface SrtpSuite {
  readonly cipher: 'counter' | 'gcm'
  readonly keyBytes: number
  readonly saltBytes: number
  /** Of RTP packets. */
  readonly tagBytes: number
  /** Of RTCP packets: 80 bits, even where RTP has 32 (RFC 4568 6.2.2). */
  readonly rtcpTagBytes: number
}

/** In the order in which we offer them: what every peer knows comes first. */
export const srtpSuites: Readonly<Record<SrtpSuiteName, SrtpSuite>> = {
  AES_CM_128_HMAC_SHA1_80: {
    cipher: 'counter',
    keyBytes: 16,
    saltBytes: 14,
    tagBytes: 10,
    rtcpTagBytes: 10,
  },
  AEAD_AES_128_GCM: { cipher: 'gcm', keyBytes: 16, saltBytes: 12, tagBytes: 16, rtcpTagBytes: 16 },
  AES_CM_128_HMAC_SHA1_32: {
    cipher: 'counter',
    keyBytes: 16,
    saltBytes: 14,
    tagBytes: 4,
    rtcpTagBytes: 10,
  },
}
