import { setTimeout as delay } from 'node:timers/promises'
import { strangerAddress } from '../stage/addresses.ts'
import type { Attack } from '../stage/attack.ts'
import { headerOf } from '../stage/sip-text.ts'
import { openUdpPeer } from '../stage/udp-peer.ts'

const listenMs = 1_500

/** A stranger who knows Call-ID and both tags of the live calls is still a stranger. */
export const forgedDialog: Attack = {
  name: 'forged-dialog',
  goal: 'a stranger who knows Call-ID and tags ends no call and is sent 0 bytes',
  async run({ product, live }) {
    const peer = await openUdpPeer(strangerAddress(10))
    for (const { leg } of live) {
      for (const [index, method] of ['BYE', 'INVITE', 'UPDATE', 'INFO', 'OPTIONS'].entries()) {
        const via = `SIP/2.0/UDP ${peer.address}:${peer.port};branch=z9hG4bKforged${index}`
        const text = leg.compose(method, 1_000 + index, via)
        await peer.send(text, product.home.sipPort, '127.0.0.1')
      }
      // The INVITE's own transaction: a CANCEL, and a final response to an INVITE that was answered long ago.
      const via = headerOf(leg.invites[0]!, 'via')
      await peer.send(leg.compose('CANCEL', 1, via), product.home.sipPort, '127.0.0.1')
    }
    await delay(listenMs)
    peer.close()
    return {
      figure: `${peer.receivedBytes} bytes back`,
      problems: peer.receivedBytes > 0 ? [`${peer.receivedBytes} bytes were answered`] : [],
      figures: { strangerBytes: peer.receivedBytes },
    }
  },
}
