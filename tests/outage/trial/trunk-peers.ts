import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import { MessageFramer } from '../../../src/sip/message/message-framer.ts'
import { serializeMessage } from '../../../src/sip/message/message.ts'
import { parseMessage } from '../../../src/sip/message/parse-message.ts'
import { freeUdpPort } from '../../support/free-port.ts'
import type { Certificates } from './certificates.ts'
import type { SipAnswers } from './sip-answers.ts'

/** The sockets of a trunk on loopback. */
export interface TrunkPeer {
  readonly port: number
  readonly close: () => Promise<void>
}

interface UdpPeer extends TrunkPeer {
  /** Every datagram is refused by ICMP, as without a program on the port, until `accept`. */
  refuse(): Promise<void>
  accept(): void
}

interface TlsPeer extends TrunkPeer {
  /** Shows the certificate that has expired, or the valid one, to every new connection; open ones are ended. */
  show(which: 'expired' | 'valid'): void
}

const address = '127.0.0.1'

const responsesTo = (bytes: Buffer, answers: SipAnswers): Buffer[] => {
  const parsed = parseMessage(bytes)
  if (!parsed.ok || parsed.message.kind !== 'request') return []
  return answers.answer(parsed.message).map((response) => serializeMessage(response))
}

export const openUdpPeer = async (answers: SipAnswers): Promise<UdpPeer> => {
  const socket = createSocket('udp4')
  // A socket connected elsewhere refuses other senders and keeps its port.
  const elsewhere = createSocket('udp4')
  socket.on('message', (bytes, from) => {
    for (const response of responsesTo(bytes, answers))
      socket.send(response, from.port, from.address)
  })
  // Of a datagram that a closed socket of the product refused.
  socket.on('error', () => undefined)
  for (const each of [socket, elsewhere]) {
    each.bind(await freeUdpPort(), address)
    await once(each, 'listening')
  }
  return {
    port: socket.address().port,
    refuse: async () => {
      socket.connect(elsewhere.address().port, address)
      await once(socket, 'connect')
    },
    accept: () => socket.disconnect(),
    close: async () => {
      for (const each of [socket, elsewhere]) {
        each.close()
        await once(each, 'close')
      }
    },
  }
}

export const openTlsPeer = async (
  answers: SipAnswers,
  certificates: Certificates,
): Promise<TlsPeer> => {
  const sockets = new Set<TLSSocket>()
  const { key, valid, expired } = certificates
  const server = createServer({ key, cert: valid }, (socket) => {
    const framer = new MessageFramer(() => socket.write('\r\n'))
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (bytes: Buffer) => {
      for (const message of framer.push(bytes))
        for (const response of responsesTo(message, answers)) socket.write(response)
    })
    socket.on('error', () => socket.destroy())
  })
  // The product ends the handshake at the sight of an expired certificate.
  server.on('tlsClientError', () => undefined)
  server.listen(0, address)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    show: (which) => {
      server.setSecureContext({ key, cert: which === 'expired' ? expired : valid })
      // What is under way to us is still read.
      for (const socket of sockets) socket.end()
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
