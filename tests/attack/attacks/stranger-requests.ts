import { setTimeout as delay } from 'node:timers/promises'
import { strangerAddress } from '../stage/addresses.ts'
import type { Attack } from '../stage/attack.ts'
import { strangeMessages, strangeRequest } from '../stage/requests.ts'
import { openUdpPeer } from '../stage/udp-peer.ts'

/** Longer than four retransmissions of a final response (RFC 3261, timer G). */
const listenMs = 4_000
const scanners = 4

/** Whatever strangers send over UDP, no byte comes back: no response, no reflection. */
export const strangerRequests: Attack = {
  name: 'stranger-requests',
  goal: 'strangers are sent 0 bytes',
  async run({ product, live }) {
    let sentBytes = 0
    let sent = 0
    const peers = await Promise.all(
      Array.from({ length: scanners }, (_, index) => openUdpPeer(strangerAddress(index + 1))),
    )
    for (const peer of peers) {
      const parts = { address: peer.address, port: peer.port }
      const messages = strangeMessages(parts)
      // Requests that resemble those of a live call, except for a tag.
      for (const { leg } of live)
        messages.push(
          strangeRequest('BYE', { ...parts, callId: leg.sipCallId, toTag: leg.remoteTag }),
          strangeRequest('CANCEL', { ...parts, callId: leg.sipCallId }),
        )
      for (const message of messages) {
        const bytes = Buffer.from(message, 'latin1')
        await peer.send(bytes, product.home.sipPort, '127.0.0.1')
        sentBytes += bytes.length
        sent += 1
      }
    }
    await delay(listenMs)
    const answered = peers.reduce((sum, peer) => sum + peer.receivedBytes, 0)
    const first = peers.find((peer) => peer.received.length > 0)?.received[0]
    for (const peer of peers) peer.close()
    return {
      figure: `${sent} messages, ${answered} bytes back (× ${(answered / sentBytes).toFixed(1)})`,
      problems:
        answered > 0 ? [`${answered} bytes were answered, first ${first?.split('\r')[0]}`] : [],
      figures: { strangerBytes: answered },
    }
  },
}
