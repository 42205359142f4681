import type { AgreedSrtp } from '../../sdp/sdp.ts'
import { createSrtpReceiver, createSrtpSender, type SrtpReceiver, type SrtpSender } from './srtp.ts'

/** The protection of one call's media, which new keys may change while it goes on. */
interface MediaProtection {
  /** `undefined`: the media is not encrypted. The same keys change nothing: indices and windows go on. */
  agree(srtp: AgreedSrtp | undefined): void
  protectRtp(packet: Uint8Array): Uint8Array
  protectRtcp(packet: Uint8Array): Uint8Array
  /** `undefined`: the datagram is not authentic, or was received before. */
  openRtp(datagram: Uint8Array): Uint8Array | undefined
  openRtcp(datagram: Uint8Array): Uint8Array | undefined
}

export const createMediaProtection = (): MediaProtection => {
  let agreed: AgreedSrtp | undefined
  let sender: SrtpSender | undefined
  let receiver: SrtpReceiver | undefined
  /** Packets under the old key are still on their way, until one under the new key has come. */
  let previous: SrtpReceiver | undefined

  return {
    agree(srtp) {
      const isSameSuite = srtp?.suite === agreed?.suite
      if (!srtp) sender = undefined
      else if (!isSameSuite || srtp.ownKey !== agreed?.ownKey)
        sender = createSrtpSender({ suite: srtp.suite, key: Buffer.from(srtp.ownKey, 'base64') })
      if (!srtp) receiver = previous = undefined
      else if (!isSameSuite || srtp.theirKey !== agreed?.theirKey) {
        previous = receiver
        const key = Buffer.from(srtp.theirKey, 'base64')
        receiver = createSrtpReceiver({ suite: srtp.suite, key })
      }
      agreed = srtp
    },
    protectRtp: (packet) => (sender ? sender.protectRtp(packet) : packet),
    protectRtcp: (packet) => (sender ? sender.protectRtcp(packet) : packet),
    openRtp(datagram) {
      if (!receiver) return datagram
      const opened = receiver.openRtp(datagram)
      if (opened === undefined) return previous?.openRtp(datagram)
      previous = undefined
      return opened
    },
    openRtcp: (datagram) =>
      receiver ? (receiver.openRtcp(datagram) ?? previous?.openRtcp(datagram)) : datagram,
  }
}
