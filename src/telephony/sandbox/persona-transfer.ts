import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../runtime/logger.ts'
import { cseqOf } from '../../sip/message/headers.ts'
import { parseSipUri } from '../../sip/message/uri.ts'
import type { Dialog } from '../../sip/dialog/dialog.ts'
import { referTargetOf } from '../refer.ts'
import { personaFor, type PersonaAnswer } from './personas.ts'

/** How long the phone of a transfer's target rings. */
const transferRingMs = 300

interface Transfers {
  /** Whether another phone rings; the callee hears that meanwhile. */
  readonly isUnderWay: boolean
}

/**
 * Every sandbox persona that answers can be transferred (REFER, RFC 3515). The carrier accepts with 202 and reports
 * by NOTIFY how the target's persona would respond: 200 for one that answers, otherwise its own refusal. No phone
 * rings for it.
 */
export const takeTransfers = (
  dialog: Dialog,
  { signal, logger }: { readonly signal: AbortSignal; readonly logger: Logger },
  onTransfer: (target: string) => void,
): Transfers => {
  let underWay = 0
  dialog.onRequest('REFER', (request) => {
    const target = referTargetOf(request)
    if (target === undefined) return 400
    onTransfer(target)
    underWay += 1
    follow(dialog, target, cseqOf(request).sequence, signal)
      .catch((error: unknown) =>
        logger.debug({ err: error }, 'a transfer in the sandbox was not told to its end'),
      )
      .finally(() => {
        underWay -= 1
      })
    return 202
  })
  return {
    get isUnderWay() {
      return underWay > 0
    },
  }
}

const follow = async (
  dialog: Dialog,
  target: string,
  id: number,
  signal: AbortSignal,
): Promise<void> => {
  await notify(dialog, id, 'active;expires=60', '100 Trying')
  await delay(transferRingMs, undefined, { signal })
  const number = decodeURIComponent(parseSipUri(target)?.user ?? '')
  await notify(dialog, id, 'terminated;reason=noresource', answerOf(personaFor(number).answer))
}

const answerOf = (answer: PersonaAnswer): string => {
  switch (answer.kind) {
    case 'refuse':
      return `${answer.status} ${answer.reason}`
    case 'ring_on':
      return '480 Temporarily Unavailable'
    case 'answer':
    case 'challenge':
    case 'congested_once':
      return '200 OK'
  }
}

const notify = async (
  dialog: Dialog,
  id: number,
  state: string,
  statusLine: string,
): Promise<void> => {
  await dialog.request('NOTIFY', {
    headers: {
      Event: `refer;id=${id}`,
      'Subscription-State': state,
      'Content-Type': 'message/sipfrag;version=2.0',
    },
    body: `SIP/2.0 ${statusLine}\r\n`,
  })
}
