import type { AgentContext } from '../dialog/agent-context.ts'
import { contactHeader, withVia, type Hop } from '../transaction/hop.ts'
import type { Destination } from '../message/destination.ts'
import { hostPort } from '../message/uri.ts'
import { emptyBody, type SipRequest, type SipResponse } from '../message/message.ts'
import { OutgoingInvite } from './outgoing-invite.ts'
import { newTag } from '../message/responses.ts'
import type { InviteOptions, InviteResult, UserAgent } from './user-agent-types.ts'

/** The calling half of a user agent. */
interface Caller extends Pick<UserAgent, 'invite' | 'ping'> {
  /** OPTIONS over a silent connection. */
  askPeer(destination: Destination): Promise<void>
  /** Cancels what still rings; resolves when no phone can answer any more. */
  stop(): Promise<void>
}

export const createCaller = (context: AgentContext): Caller => {
  const pending = new Set<OutgoingInvite>()
  const invite = (options: InviteOptions, signal: AbortSignal): Promise<InviteResult> => {
    const outgoing = new OutgoingInvite(context, options)
    pending.add(outgoing)
    void outgoing.done.then(() => pending.delete(outgoing))
    outgoing.start(signal).catch((error: unknown) => {
      context.logger.error({ err: error }, 'INVITE could not be started')
      outgoing.abandon()
    })
    return outgoing.result
  }
  return {
    invite,
    ping: async (target, timeoutMs, onTransportError) => {
      const hop = await context.signalling.route(target).catch((error: unknown) => {
        onTransportError?.(error instanceof Error ? error : new Error(String(error)))
        return undefined
      })
      return hop && ping(context, { target, hop, timeoutMs, onTransportError })
    },
    askPeer: async (destination) => {
      const { protocol, address, port } = destination
      const target = `sip:${hostPort(address, port)};transport=${protocol}`
      const hop = await context.signalling.hopTo(destination)
      await ping(context, { target, hop, timeoutMs: peerPatienceMs, onTransportError: undefined })
    },
    stop: async () => {
      const ending = [...pending]
      for (const outgoing of ending) outgoing.cancel()
      await Promise.all(ending.map(({ done }) => done))
    },
  }
}

/** With the 20 s between pings and the 10 s for a pong: a dead connection is noticed within 40 s. */
const peerPatienceMs = 10_000

interface Ping {
  readonly target: string
  readonly hop: Hop
  readonly timeoutMs: number
  readonly onTransportError: ((error: Error) => void) | undefined
}

const ping = async (
  context: AgentContext,
  { target, hop, timeoutMs, onTransportError }: Ping,
): Promise<SipResponse | undefined> => {
  const plain = buildOptions(target, context.userAgentName)
  const request = withVia({ ...plain, headers: [...plain.headers, contactHeader(hop)] }, hop)
  const { promise, resolve } = Promise.withResolvers<SipResponse | undefined>()
  const nothing = (): void => {
    resolve(undefined)
  }
  const failed = (): void => {
    context.signalling.health.failed(hop.destination)
    nothing()
  }
  const transaction = context.signalling.startRequest(request, hop, {
    onResponse: (response) => {
      if (response.status >= 200) resolve(response)
    },
    onTimeout: failed,
    onTransportError: (error) => {
      onTransportError?.(error)
      failed()
    },
    onTerminated: nothing,
  })
  const cancelTimeout = context.time.after(timeoutMs, () => {
    failed()
    transaction.terminate()
  })
  const response = await promise
  cancelTimeout()
  return response
}

const buildOptions = (target: string, userAgentName: string): SipRequest => ({
  kind: 'request',
  method: 'OPTIONS',
  uri: target,
  headers: [
    ['max-forwards', '70'],
    ['from', `<${target}>;tag=${newTag()}`],
    ['to', `<${target}>`],
    ['call-id', `${newTag()}${newTag()}`],
    ['cseq', '1 OPTIONS'],
    ['accept', 'application/sdp'],
    ['user-agent', userAgentName],
  ],
  body: emptyBody,
})
