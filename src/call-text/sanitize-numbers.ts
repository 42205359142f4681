import { spokenDigitRuns } from './spoken-digits.ts'

/** Cards, phone numbers and every other long run of digits. Prices, dates and times stay. */

const leastCardDigits = 13
const greatestCardDigits = 19
const leastPhoneDigits = 7
const greatestPhoneDigits = 15

const onlyDigits = (text: string): string => text.replace(/\D/g, '')

/** Luhn's check of a card number: from the right, every second digit is doubled. */
const passesLuhn = (digits: string): boolean => {
  let sum = 0
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index])
    const doubled = index % 2 === 0 ? digit : digit * 2
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

const isCard = (digits: string): boolean =>
  digits.length >= leastCardDigits &&
  digits.length <= greatestCardDigits &&
  // 0000 0000 0000 0000 also passes, but is no card.
  /[1-9]/.test(digits) &&
  passesLuhn(digits)

/** What may separate a card's groups. No price or date has as many digits as a card. */
const cardRun = /\d(?:[ .,()/_*|•·\p{Pd}\u2212]{0,3}\d){12,}/gu
/** If several stretches of a run pass, the most common card length wins. */
const cardLengths = [16, 15, 19, 18, 17, 14, 13] as const

/** Cards first, because a check digit identifies them anywhere among other numbers. */
export const labelCards = (text: string): string =>
  betweenKept(text, (part) => part.replace(cardRun, labelCardsOfRun))

interface Group {
  readonly digits: string
  readonly start: number
  readonly end: number
}

const labelCardsOfRun = (run: string): string => {
  const groups = [...run.matchAll(/\d+/g)].map(({ 0: digits, index }) => ({
    digits,
    start: index,
    end: index + digits.length,
  }))
  let result = ''
  let from = 0
  for (const card of findCards(groups)) {
    result += `${labelBeside(run.slice(from, card.start))}[card number]`
    from = card.end
  }
  return from === 0 ? run : result + labelBeside(run.slice(from))
}

/** Cards begin and end at group boundaries and do not overlap; in the order of the text. */
const findCards = (
  groups: readonly Group[],
): { readonly start: number; readonly end: number }[] => {
  const taken = groups.map(() => false)
  const found: { start: number; end: number }[] = []
  for (const length of cardLengths) {
    for (let first = 0; first < groups.length; first += 1) {
      const last = lastGroupOfCard(groups, taken, first, length)
      if (last === undefined) continue
      taken.fill(true, first, last + 1)
      found.push({ start: groups[first]?.start ?? 0, end: groups[last]?.end ?? 0 })
    }
  }
  return found.toSorted((one, other) => one.start - other.start)
}

const lastGroupOfCard = (
  groups: readonly Group[],
  taken: readonly boolean[],
  first: number,
  length: number,
): number | undefined => {
  let digits = ''
  let isDictated = false
  for (let last = first; last < groups.length && digits.length < length; last += 1) {
    const group = groups[last]?.digits ?? ''
    if (taken[last] === true) return undefined
    digits += group
    isDictated ||= group.length === 1
    if (digits.length !== length) continue
    // Some stretch of a long number always passes digit by digit, so such a number is replaced whole or not at all.
    const isWhole = first === 0 && last === groups.length - 1
    return (isWhole || !isDictated) && isCard(digits) ? last : undefined
  }
  return undefined
}

/** A security code, or another number directly beside a card; a comma separates it. */
const labelBeside = (part: string): string =>
  part.includes(',') ? part : part.replace(/\d(?:.*\d)?/, '[number]')

const labelDigits = (digits: string): string => {
  if (isCard(digits)) return '[card number]'
  return digits.length <= greatestPhoneDigits ? '[phone number]' : '[number]'
}

const notBefore = String.raw`(?<![\d\p{L}])(?<!\d[.,/\p{Pd}\u2212])`
const notAfter = String.raw`(?![\d])(?![./\p{Pd}\u2212]\d)`
const day = '(?:0?[1-9]|[12]\\d|3[01])'
const month = '(?:0?[1-9]|1[0-2])'
const year = '(?:19|20)\\d{2}'
const monthName =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?'
const dayAndMonth = (between: string): string =>
  `(?:${day}${between}${month}|${month}${between}${day})${between}`

const currency = String.raw`(?:US ?|A|C|NZ)?[$€£¥₹]|(?:USD|EUR|GBP|CHF|CAD|AUD|JPY|INR) ?`
const currencyWord =
  'dollars?|bucks|euros?|pounds?|pence|cents?|yen|francs?|rupees|pesos|percent|usd|eur|gbp|chf|cad|aud|jpy|inr'
const amount = String.raw`(?:\d{1,3}(?:[.,' ]\d{3}){1,4}|\d{1,12})(?:[.,]\d{1,2})?`

/** What stays, first match first. Adjacent digits that would extend the number prevent the match. */
const kept = new RegExp(
  [
    // 10:30, 10:30:45.000
    String.raw`(?<!\d)\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?!\d)`,
    // 2026-11-20, 20.11.2026, 11/20/26
    `${notBefore}${year}[./-]${month}[./-]${day}${notAfter}`,
    `${notBefore}${dayAndMonth('[./-]')}(?:${year}|\\d{2})${notAfter}`,
    // November 20, 2026 and 20 November 2026
    String.raw`(?<!\p{L})${monthName} ${day}(?:st|nd|rd|th)?,? ${year}(?!\d)`,
    String.raw`(?<!\d)${day}(?:st|nd|rd|th)? (?:of )?${monthName},? ${year}(?!\d)`,
    // 20 11 2026, but not between other groups
    String.raw`(?<!\d ?)${dayAndMonth(' ')}${year}(?! ?\d)`,
    // $1,234,567.89 and 1.234.567,89 €
    String.raw`(?:${currency}) ?${amount}(?![\d])(?![ ./\p{Pd}]\d)`,
    String.raw`(?<![\d])(?<!\d[ ./\p{Pd}])${amount} ?(?:[$€£¥₹%]|(?:${currencyWord})(?!\p{L}))`,
    // 1 000 000
    String.raw`(?<![\d])(?<!\d[ .,/\p{Pd}])\d{1,2}(?:[ .,']000){2,3}(?![\d])(?![ .,/\p{Pd}]\d)`,
  ].join('|'),
  'giu',
)

const numberRun = /(?:\+ ?)?\(?\d(?:[ .()/_*•·\p{Pd}\u2212]{0,3}\d){6,}/gu

export const labelNumbers = (text: string): string =>
  betweenKept(text, (part) =>
    part.replace(numberRun, (run) => {
      const digits = onlyDigits(run)
      return labelDigits(digits)
    }),
  )

const betweenKept = (text: string, label: (part: string) => string): string => {
  let result = ''
  let from = 0
  for (const { 0: found, index } of text.matchAll(kept)) {
    result += label(text.slice(from, index)) + found
    from = index + found.length
  }
  return result + label(text.slice(from))
}

/** Numbers spoken digit by digit, mixed with figures (`four 5 six`). */
export const labelSpokenNumbers = (text: string): string =>
  betweenKept(text, (part) => {
    let result = ''
    let from = 0
    for (const run of spokenDigitRuns(part)) {
      const isTooShort = run.digits.length < leastPhoneDigits
      if (isTooShort) continue
      const label = run.digits.length === 9 ? '[number]' : labelDigits(run.digits)
      result += part.slice(from, run.start) + label
      from = run.end
    }
    return result + part.slice(from)
  })
