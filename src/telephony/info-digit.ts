import { bodyText, headerOf, type SipRequest } from '../sip/message/message.ts'

// A gateway writes two short lines.
const maxBodyBytes = 1_024

/**
 * The key in an INFO, in either of the two gateway formats: `Signal=5` (`application/dtmf-relay`) or the key alone
 * (`application/dtmf`). Neither has an RFC; some use `10` and `11` for star and pound.
 */
export const digitOfInfo = (request: SipRequest): string | undefined => {
  const type = (headerOf(request, 'content-type') ?? '').split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/dtmf-relay' && type !== 'application/dtmf') return undefined
  if (request.body.length > maxBodyBytes) return undefined
  const text = bodyText(request)
  const written = type === 'application/dtmf-relay' ? signalOf(text) : text
  const key = (written ?? '').trim().toUpperCase()
  const digit = { '10': '*', '11': '#' }[key] ?? key
  return /^[0-9*#A-D]$/.test(digit) ? digit : undefined
}

/** The value of the first line `Signal=…`, up to white space. */
const signalOf = (text: string): string | undefined => {
  for (const line of text.split(/[\r\n]/)) {
    const [name = '', value] = line.split('=', 2)
    if (value !== undefined && name.trim().toLowerCase() === 'signal')
      return value.trim().split(/\s/, 1)[0]
  }
  return undefined
}
