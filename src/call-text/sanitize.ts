import { labelAccounts } from './sanitize-accounts.ts'
import { labelAddresses } from './sanitize-addresses.ts'
import { labelCards, labelNumbers, labelSpokenNumbers } from './sanitize-numbers.ts'

/** Increases with every change of a rule: text sanitized by another version may differ. */
const sanitizerVersion = 4

/**
 * Text for display: without control and direction characters, in NFC, with single white space and digits of all
 * scripts written 0 to 9. A label in brackets replaces whatever identifies accounts or reaches people by other
 * means: card and account numbers, social security numbers, e-mail addresses, phone numbers, and long runs of
 * digits, written or spoken. Names, prices, dates and times stay. Deterministic; applying it twice changes nothing;
 * linear in the length of the text.
 */
export const sanitize = (text: string): string => {
  let current = text
  for (let round = 0; round < maxRounds; round += 1) {
    const next = rules.reduce((before, rule) => rule(before), clean(current))
    if (next === current) return current
    current = next
  }
  return current
}

/** A label that replaces one number can uncover the number beside it; chains have at most two steps in practice. */
const maxRounds = 6

/** The rules with their version, stored beside the resulting text. */
export const sanitizer = { version: sanitizerVersion, sanitize } as const

// Controls; soft hyphen; direction marks, embeddings, overrides and isolates; zero-width space, word joiner; tags
// and variation selectors among digits. Joiners inside letters and emoji stay.
const invisible =
  /\u034f|[\p{Cc}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]/gu
/** Between digits even the joiners of emoji can only hide a number. */
const hiddenInNumbers = /(?<=\p{Nd})(?:\u200c|\u200d|\u20e3|[\ufe00-\ufe0f])+/gu
const foreignDigit = /[^\P{Nd}0-9]/gu

const clean = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\s+/gu, ' ')
    .replace(invisible, '')
    .replace(/ {2,}/g, ' ')
    .replace(hiddenInNumbers, '')
    .normalize('NFC')
    .replace(foreignDigit, (digit) => String(valueOfDigit(digit)))
    .trim()

/** Unicode keeps the decimal digits of a script together, from zero to nine (its stability policy). */
const valueOfDigit = (digit: string): number => {
  const code = digit.codePointAt(0) ?? 0
  // Mathematical digits are five sets of ten in a row that do not begin at a multiple of ten.
  const firstMathematical = 0x1d7ce
  if (code >= firstMathematical && code <= 0x1d7ff) return (code - firstMathematical) % 10
  let value = 0
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1
  return value
}

/** In this order: the more specific rule first. */
const rules: readonly ((text: string) => string)[] = [
  labelAddresses,
  labelAccounts,
  labelCards,
  labelSpokenNumbers,
  labelNumbers,
]
