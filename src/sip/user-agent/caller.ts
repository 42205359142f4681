import type { AgentContext } from '../dialog/agent-context.ts'
import { contactHeader, withVia } from '../transaction/hop.ts'
import { emptyBody, type SipRequest, type SipResponse } from '../message/message.ts'
import { OutgoingInvite } from './outgoing-invite.ts'
import { newTag } from '../message/responses.ts'
import type { InviteOptions, InviteResult, UserAgent } from './user-agent-types.ts'

/** The calling half of a user agent. */
interface Caller extends Pick<UserAgent, 'invite' | 'ping'> {
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
    ping: (...request) => ping(context, ...request),
    stop: async () => {
      const ending = [...pending]
      for (const outgoing of ending) outgoing.cancel()
      await Promise.all(ending.map(({ done }) => done))
    },
  }
}

const ping = async (
  context: AgentContext,
  target: string,
  timeoutMs: number,
  onTransportError: (error: Error) => void = () => undefined,
): Promise<SipResponse | undefined> => {
  const hop = await context.signalling.route(target).catch(() => undefined)
  if (hop === undefined) return undefined
  const plain = buildOptions(target, context.userAgentName)
  const request = withVia({ ...plain, headers: [...plain.headers, contactHeader(hop)] }, hop)
  const { promise, resolve } = Promise.withResolvers<SipResponse | undefined>()
  const nothing = (): void => {
    resolve(undefined)
  }
  const transaction = context.signalling.startRequest(request, hop, {
    onResponse: (response) => {
      if (response.status >= 200) resolve(response)
    },
    onTimeout: nothing,
    onTransportError: (error) => {
      onTransportError(error)
      nothing()
    },
    onTerminated: nothing,
  })
  const cancelTimeout = context.time.after(timeoutMs, () => {
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
