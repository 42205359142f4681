import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { headerOf, serializeMessage, type SipRequest } from '../../src/sip/message/message.ts'
import { parseMessage } from '../../src/sip/message/parse-message.ts'
import { createResponse } from '../../src/sip/message/responses.ts'
import { freeUdpPort } from './free-port.ts'

/** How the trunk answers an INVITE: a status and headers of its own. */
export interface TrunkAnswer {
  readonly status: number
  readonly headers?: SipRequest['headers']
}

/** A trunk over UDP that answers every call by one rule, goes away and comes back on one port. */
export interface VanishingTrunk {
  readonly port: number
  /** How often a number was called: repetitions of one INVITE, with credentials too, are one. */
  timesCalled(number: string): number
  /** Numbers whose INVITE was delivered before the trunk went, and never answered: only the trunk can know of it. */
  readonly unanswered: ReadonlySet<string>
  readonly numbers: ReadonlySet<string>
  readonly arrivalsMs: readonly number[]
  /** From here on every datagram is refused by ICMP, as with no program on the port; resolves when what came before is read. */
  leave(): Promise<void>
  comeBack(): void
  close(): Promise<void>
}

export interface VanishingTrunkOptions {
  readonly answer?: (invite: SipRequest) => TrunkAnswer
  /** What OPTIONS gets. */
  readonly optionsStatus?: number
}

const busy: TrunkAnswer = { status: 486 }
const addressOfTrunk = '127.0.0.1'

/**
 * A socket that is connected elsewhere refuses what others send, keeps its port, and can still be read of what came before: so it
 * is known of each INVITE whether it was delivered.
 */
export const openVanishingTrunk = async ({
  answer = () => busy,
  optionsStatus = 200,
}: VanishingTrunkOptions = {}): Promise<VanishingTrunk> => {
  const socket = createSocket('udp4')
  // Its one datagram is behind everything that came to the trunk before.
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
    // A port that was asked for by number is kept by a socket that is no longer connected.
    each.bind(await freeUdpPort(), addressOfTrunk)
    await once(each, 'listening')
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
