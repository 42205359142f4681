/**
 * The far end of `soak.ts`, in a process of its own. `callees`: answers every call with speechless audio, and prints its
 * port. `strangers PORT TLS_PORT COUNT`: opens that many connections to us and says nothing.
 */
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { g711Silence } from '../../src/audio/g711.ts'
import { openRtpSession } from '../../src/rtp/rtp-session.ts'
import { PhasedTicker } from '../../src/rtp/ticker.ts'
import { createMediaNegotiator } from '../../src/sdp/sdp.ts'
import { anySource } from '../../src/sip/gate/sources.ts'
import { createUserAgent } from '../../src/sip/user-agent/user-agent.ts'

const portRange = { min: 30_000, max: 39_998 }

const answerCalls = async (): Promise<void> => {
  const agent = createUserAgent({ bindAddress: '127.0.0.1', sources: anySource })
  const ticker = new PhasedTicker()
  const silence = g711Silence('pcmu')
  agent.onInvite((incoming) => {
    void (async () => {
      const session = await openRtpSession({ bindAddress: '127.0.0.1', portRange })
      const agreed = createMediaNegotiator({ local: session }).answer(incoming.offer ?? '')
      if (agreed === undefined) return incoming.reject(488, 'Not Acceptable Here')
      session.connect(agreed.audio)
      const stop = ticker.add(
        () => {
          session.receive()
          session.send(silence)
        },
        (error) => console.error(error),
      )
      const dialog = await incoming.accept(agreed.sdp)
      await dialog?.ended
      stop()
      await session.close()
    })()
  })
  await agent.start()
  console.log(agent.localPort)
}

const connectStrangers = async (port: number, tlsPort: number, count: number): Promise<void> => {
  const tried = (socket: Socket): Promise<void> =>
    new Promise((done) => {
      socket.once('connect', () => done())
      socket.on('error', () => done())
    })
  const sockets: Promise<void>[] = []
  for (let each = 0; each < count; each += 1) {
    // Each from an address of its own, as a crowd would.
    const localAddress = `127.1.${each >> 8}.${each & 0xff || 1}`
    const place = { host: '127.0.0.1', localAddress }
    sockets.push(
      each % 2 === 0
        ? tried(connectTcp({ ...place, port }))
        : tried(
            connectTls({
              socket: connectTcp({ ...place, port: tlsPort }),
              rejectUnauthorized: false,
            }),
          ),
    )
  }
  await Promise.all(sockets)
  console.log(count)
  setInterval(() => {}, 60_000)
}

const [what, ...numbers] = process.argv.slice(2)
const [port = 0, tlsPort = 0, count = 0] = numbers.map(Number)
await (what === 'strangers' ? connectStrangers(port, tlsPort, count) : answerCalls())
