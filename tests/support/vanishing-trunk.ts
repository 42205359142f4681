import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { headerOf, serializeMessage, type SipRequest } from '../../src/sip/message/message.ts'
import { parseMessage } from '../../src/sip/message/parse-message.ts'
import { createResponse } from '../../src/sip/message/responses.ts'
import { receiveBufferBytes } from '../../src/sip/transport/connected-udp.ts'
import { freeUdpPort } from './free-port.ts'

/** The trunk's response to an INVITE: a status and its own headers. */
export interface TrunkAnswer {
  readonly status: number
  readonly headers?: SipRequest['headers']
}

/** A trunk over UDP that responds to every call by one rule, disappears and comes back on one port. */
export interface VanishingTrunk {
  readonly port: number
  /** How often a number was called: repetitions of one INVITE, also with credentials, count once. */
  timesCalled(number: string): number
  /**
   * Numbers whose INVITE was delivered before the trunk disappeared, and got no response: only the trunk can know
   * them.
   */
  readonly unanswered: ReadonlySet<string>
  readonly numbers: ReadonlySet<string>
  readonly arrivalsMs: readonly number[]
  /**
   * From here on every datagram is refused by ICMP, as without a program on the port; resolves when earlier
   * datagrams have been read.
   */
  leave(): Promise<void>
  comeBack(): void
  close(): Promise<void>
}

export interface VanishingTrunkOptions {
  readonly answer?: (invite: SipRequest) => TrunkAnswer
  /** The response to OPTIONS. */
  readonly optionsStatus?: number
}

const busy: TrunkAnswer = { status: 486 }
const addressOfTrunk = '127.0.0.1'

/**
 * A socket connected elsewhere refuses other senders, keeps its port, and can still read earlier datagrams: so the
 * trunk knows of each INVITE whether it was delivered.
 */
export const openVanishingTrunk = async ({
  answer = () => busy,
  optionsStatus = 200,
}: VanishingTrunkOptions = {}): Promise<VanishingTrunk> => {
  const socket = createSocket('udp4')
  // Its one datagram is queued behind everything that arrived at the trunk before.
  const marker = createSocket('udp4')
  const attempts = new Map<string, Set<string>>()
  const unanswered = new Set<string>()
  const arrivalsMs: number[] = []
  let isAway = false
  let drained: (() => void) | undefined

  const reply = (request: SipRequest, { status, headers }: TrunkAnswer, to: RemoteInfo): void => {
    const response = createResponse(request, status, {
      toTag: 'trunk',
      ...(headers && { headers }),
    })
    socket.send(serializeMessage(response), to.port, to.address)
  }

  const takeInvite = (request: SipRequest, from: RemoteInfo): void => {
    const number = /\+\d+/.exec(request.uri)?.[0] ?? ''
    const known = attempts.get(number) ?? new Set<string>()
    attempts.set(number, known)
    const sipCallId = headerOf(request, 'call-id') ?? ''
    if (!known.has(sipCallId)) arrivalsMs.push(performance.now())
    known.add(sipCallId)
    if (isAway) {
      unanswered.add(number)
      return
    }
    unanswered.delete(number)
    reply(request, answer(request), from)
  }

  socket.on('message', (bytes, from) => {
    if (from.port === marker.address().port) return drained?.()
    const parsed = parseMessage(bytes)
    if (!parsed.ok || parsed.message.kind !== 'request') return
    const { message } = parsed
    if (message.method === 'INVITE') takeInvite(message, from)
    else if (message.method !== 'ACK' && !isAway)
      reply(message, { status: message.method === 'OPTIONS' ? optionsStatus : 200 }, from)
  })
  for (const each of [socket, marker]) {
    // A socket that is no longer connected keeps a port that was requested by number.
    each.bind(await freeUdpPort(), addressOfTrunk)
    await once(each, 'listening')
    // A datagram that finds the buffer full would be lost, and neither side could tell.
    each.setRecvBufferSize(receiveBufferBytes)
  }

  return {
    port: socket.address().port,
    timesCalled: (number) => attempts.get(number)?.size ?? 0,
    get numbers() {
      return new Set(attempts.keys())
    },
    unanswered,
    arrivalsMs,
    leave: async () => {
      isAway = true
      const { promise, resolve } = Promise.withResolvers<undefined>()
      drained = () => {
        resolve(undefined)
      }
      socket.connect(marker.address().port, addressOfTrunk)
      await once(socket, 'connect')
      marker.send('behind all that came', socket.address().port, addressOfTrunk)
      await promise
    },
    comeBack: () => {
      socket.disconnect()
      isAway = false
    },
    close: async () => {
      for (const each of [socket, marker]) {
        each.close()
        await once(each, 'close')
      }
    },
  }
}
