import type { AgentContext } from './agent-context.ts'
import { contactHeader, withVia } from '../transaction/hop.ts'
import type { ClientTransactionListener } from '../transaction/client-transaction.ts'
import { dialogRequest, type DialogState } from './dialog-state.ts'
import type { DigestClient } from '../digest/digest.ts'
import { headersOf, type Header, type SipRequest, type SipResponse } from '../message/message.ts'
import { cseqOf } from '../message/headers.ts'
import type { Hop } from '../transaction/hop.ts'
import { transactionTimeoutMs } from '../transaction/transaction-timing.ts'

interface RequestContent {
  readonly headers?: readonly Header[]
  readonly body?: string
}

/** Sends the requests of one dialog: sequence numbers, route, credentials, the answer to a challenge. */
export interface DialogClient {
  /** Any request but INVITE and ACK; `undefined` when no final response came. */
  request(method: string, content: RequestContent): Promise<SipResponse | undefined>
  /** A re-INVITE; its response is always acknowledged. `undefined` when no final response came. */
  reinvite(content: RequestContent): Promise<SipResponse | undefined>
}

// The request itself, and once more for each of a 401 and a 407 on its way.
const maxTries = 3

export const createDialogClient = (
  context: AgentContext,
  state: DialogState,
  digest: DigestClient,
): DialogClient => {
  const send = async (
    method: string,
    content: RequestContent,
  ): Promise<SipResponse | undefined> => {
    for (let tries = 1; ; tries += 1) {
      // All requests of the dialog share it, so it rises right before each is built (RFC 3261 12.2.1.1).
      state.localSequence += 1
      const { request, nextHop } = dialogRequest(state, method, state.localSequence, content)
      const hop = await context.signalling.route(nextHop).catch(() => undefined)
      if (hop === undefined) return undefined
      // A Contact or route may lead anywhere; the password goes only to the trunk.
      const hopDigest = digest.towards(hop.destination)
      const headers = [...request.headers, ...hopDigest.sign(request), contactHeader(hop)]
      const complete = withVia({ ...request, headers }, hop)
      const response = await (method === 'INVITE'
        ? exchangeInvite({ context, state, digest }, complete, hop)
        : exchangeRequest(context, complete, hop))
      if (response === undefined) return undefined
      if (response.status !== 401 && response.status !== 407) {
        hopDigest.prove(response)
        return response
      }
      if (tries === maxTries || !hopDigest.learn(response)) return response
    }
  }
  return { request: send, reinvite: (content) => send('INVITE', content) }
}

const exchangeRequest = (
  { signalling }: AgentContext,
  request: SipRequest,
  hop: Hop,
): Promise<SipResponse | undefined> =>
  new Promise((resolve) => {
    signalling.startRequest(request, hop, finalListener(resolve))
  })

interface DialogParts {
  readonly context: AgentContext
  readonly state: DialogState
  readonly digest: DigestClient
}

const exchangeInvite = (
  parts: DialogParts,
  request: SipRequest,
  hop: Hop,
): Promise<SipResponse | undefined> =>
  new Promise((settle) => {
    const resolve = (response: SipResponse | undefined): void => {
      cancelPatience()
      settle(response)
    }
    const listener = finalListener(resolve)
    const { context } = parts
    const transaction = context.signalling.startInvite(request, hop, {
      ...listener,
      onResponse: (response) => {
        // Each copy of the 2xx requests the ACK again (RFC 3261 13.2.2.4).
        if (response.status >= 200 && response.status < 300) void acknowledge(parts, request)
        listener.onResponse(response)
      },
    })
    // An INVITE with only provisional responses would wait forever: no phone rings inside a dialog.
    const cancelPatience = context.time.after(transactionTimeoutMs(context.timing), () => {
      if (transaction.state === 'proceeding') transaction.terminate()
      settle(undefined)
    })
  })

const finalListener = (
  resolve: (response: SipResponse | undefined) => void,
): ClientTransactionListener => ({
  onResponse: (response) => {
    if (response.status >= 200) resolve(response)
  },
  onTimeout: () => {
    resolve(undefined)
  },
  onTransportError: () => {
    resolve(undefined)
  },
  onTerminated: () => {
    resolve(undefined)
  },
})

/**
 * Sends the ACK of a 2xx: a separate request within the dialog, with the INVITE's sequence number and credentials
 * (RFC 3261 13.2.2.4, 22.1).
 */
export const acknowledge = (
  { context, state, digest }: DialogParts,
  invite: SipRequest,
): Promise<void> => {
  const credentials = ['authorization', 'proxy-authorization'].flatMap((name) =>
    headersOf(invite, name).map((value): Header => [name, value]),
  )
  const { request, nextHop } = dialogRequest(state, 'ACK', cseqOf(invite).sequence)
  return context.signalling.route(nextHop).then(
    (hop) => {
      const signed = digest.towards(hop.destination).isTrusted ? credentials : []
      const ack = { ...request, headers: [...request.headers, ...signed] }
      context.signalling.sendAck(withVia(ack, hop), hop)
    },
    () => {
      // The other side repeats its 2xx, and so requests it again.
    },
  )
}
