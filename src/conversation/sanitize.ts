import { spokenDigitRuns } from './spoken-digits.ts'

/** Rises with every change of a rule: text sanitized by another version may differ. */
export const sanitizerVersion = 2

/**
 * Text as it may be shown: control and direction characters gone, NFC, white space single, and what identifies accounts
 * or reaches people by other means replaced by a label in brackets: card and account numbers, social security numbers,
 * e-mail addresses, phone numbers, and long runs of spoken digits. Names stay. Deterministic, and applying it twice
 * changes nothing; time grows with the length of the text.
 */
export const sanitize = (text: string): string =>
  rules.reduce((current, rule) => rule(current), clean(text))

/** The rules with their version, for whoever stores what they made. */
export const sanitizer = {
  version: sanitizerVersion,
  sanitize: (text: string): string => sanitize(text),
} as const

// Controls; direction marks, embeddings, overrides and isolates; zero-width space, word joiner. Joiners that letters and
// emoji are built with stay.
const invisible = /[\p{Cc}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069]/gu

const clean = (text: string): string =>
  text.toWellFormed().replace(/\s+/gu, ' ').replace(invisible, '').normalize('NFC').trim()

/** Bounded everywhere, so that no text makes them backtrack for long. */
const email = /[\p{L}\p{N}._%+-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24}/gu
const spokenEmail =
  /\b[\p{L}\p{N}._-]{1,64} at [\p{L}\p{N}-]{1,63} dot (?:com|org|net|edu|gov|info|io|de|fr|es|it|uk)\b/giu
const iban = /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b/gi
const socialSecurity = /\b\d{3}[- ]\d{2}[- ]\d{4}\b/g
const longNumber = /(?<![\d.])(?:\+|\b)\(?\d(?:[ .()/-]{0,2}\d){6,24}\b/g

const leastCardDigits = 13
const greatestCardDigits = 19
const leastPhoneDigits = 7
const greatestPhoneDigits = 15

const onlyDigits = (text: string): string => text.replace(/\D/g, '')

/** Luhn's check of a card number: from the right, every second digit counts twice. */
const passesLuhn = (digits: string): boolean => {
  let sum = 0
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index])
    const doubled = index % 2 === 0 ? digit : digit * 2
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

/** ISO 13616: the country moved to the end and letters read as numbers, the rest by 97 is 1. */
const isIban = (candidate: string): boolean => {
  const compact = candidate.replaceAll(' ', '').toUpperCase()
  if (compact.length < 15 || compact.length > 34) return false
  const moved = compact.slice(4) + compact.slice(0, 4)
  let rest = 0
  for (const character of moved) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}

const date = /^(?:\d{4}-\d{2}-\d{2}\b|\d{1,2}[./-]\d{1,2}[./-]\d{4}\b)/

const labelNumber = (candidate: string): string => {
  if (date.test(candidate)) return candidate
  const digits = onlyDigits(candidate)
  const mayBeCard = digits.length >= leastCardDigits && digits.length <= greatestCardDigits
  if (mayBeCard && passesLuhn(digits)) return '[card number]'
  if (digits.length < leastPhoneDigits) return candidate
  return digits.length <= greatestPhoneDigits ? '[phone number]' : '[number]'
}

/** In this order: what is more specific goes first. */
const rules: readonly ((text: string) => string)[] = [
  (text) => text.replace(email, '[e-mail]'),
  (text) => text.replace(spokenEmail, '[e-mail]'),
  (text) => text.replace(iban, (found) => (isIban(found) ? '[account number]' : found)),
  (text) => text.replace(socialSecurity, '[social security number]'),
  (text) => text.replace(longNumber, labelNumber),
  (text) => replaceSpokenDigits(text),
]

const replaceSpokenDigits = (text: string): string => {
  let result = ''
  let from = 0
  for (const run of spokenDigitRuns(text)) {
    const label = run.digits.length === 9 ? '[number]' : labelNumber(run.digits)
    result += text.slice(from, run.start) + label
    from = run.end
  }
  return result + text.slice(from)
}
