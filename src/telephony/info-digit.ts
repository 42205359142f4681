import type { Dialog } from '../sip/dialog/dialog.ts'
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

/** As long as the tones would be. */
const infoDigitMs = 160
/** As many as one tool call may have; further ones are dropped. */
const maxInfoDigits = 64

/** Sends each digit as `application/dtmf-relay`, and waits for its response before the next one. Never rejects. */
export const sendInfoDigits = async (
  dialog: Pick<Dialog, 'request'>,
  digits: string,
): Promise<void> => {
  const keys = Array.from(digits.toUpperCase()).filter((digit) => /^[0-9*#A-D]$/.test(digit))
  for (const key of keys.slice(0, maxInfoDigits)) {
    const response = await dialog
      .request('INFO', {
        headers: { 'Content-Type': 'application/dtmf-relay' },
        body: `Signal=${key}\r\nDuration=${infoDigitMs}\r\n`,
      })
      .catch(() => undefined)
    if (response === undefined) return
  }
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
