import { bodyText, headerOf, type SipRequest } from '../sip/message.ts'

/**
 * The key an INFO tells of, in either of the two ways gateways write it: `Signal=5` (`application/dtmf-relay`) or the key
 * alone (`application/dtmf`). Neither has an RFC; `10` and `11` are the star and the pound of some.
 */
export const digitOfInfo = (request: SipRequest): string | undefined => {
  const type = (headerOf(request, 'content-type') ?? '').split(';')[0]?.trim().toLowerCase()
  const text = bodyText(request)
  const written =
    type === 'application/dtmf-relay' ? /^\s*signal\s*=\s*(\S+)/im.exec(text)?.[1] : text
  if (type !== 'application/dtmf-relay' && type !== 'application/dtmf') return undefined
  const key = (written ?? '').trim().toUpperCase()
  const digit = { '10': '*', '11': '#' }[key] ?? key
  return /^[0-9*#A-D]$/.test(digit) ? digit : undefined
}
