import { operations } from '../../contract/operations.ts'
import { isUuid } from '../../runtime/ids.ts'

// What is kept is listed; everything else is masked, so that a member that nobody thought of gives nothing away.

/** In the place of what is not kept. */
export const hidden = '•••'

/** Bounds of what is kept of one body, whatever its size. */
const maxValues = 100
const maxDepth = 8
const maxItems = 5
const maxNameLength = 40
/** Digits of a number that is kept: a phone number has more. */
const maxDigits = 6
/** Digits in a name: `address_2` is one, `n12025550123` a phone number. */
const maxDigitsOfName = 2

/** Members whose value is one of few words of the contract. */
const wordMembers = new Set([
  'status',
  'answer_status',
  'object',
  'type',
  'kind',
  'code',
  'purpose',
  'bucket',
  'weekdays',
  'origin',
])

/**
 * A JSON value without what is of people: numbers, names, addresses, keys and free text are masked, ids, times, small
 * numbers and the contract's words stay. Reads a bounded part of the value; of longer lists the first five items stay.
 */
export const redact = (value: unknown): unknown => redactValue(value, '', 0, { left: maxValues })

interface Budget {
  left: number
}

const redactValue = (value: unknown, member: string, depth: number, budget: Budget): unknown => {
  budget.left -= 1
  if (typeof value === 'string') return redactText(value, member)
  if (typeof value === 'number') return isSmall(value) ? value : hidden
  if (typeof value !== 'object' || value === null) return value
  if (depth >= maxDepth || budget.left <= 0) return hidden
  return Array.isArray(value)
    ? redactItems(value, member, depth, budget)
    : redactMembers(value, depth, budget)
}

const redactItems = (
  items: readonly unknown[],
  member: string,
  depth: number,
  budget: Budget,
): unknown[] => {
  const kept = items.slice(0, maxItems).map((item) => redactValue(item, member, depth + 1, budget))
  return items.length > maxItems ? [...kept, `… ${items.length - maxItems} more`] : kept
}

const redactMembers = (value: object, depth: number, budget: Budget): unknown => {
  const kept: [string, unknown][] = []
  for (const name in value) {
    if (budget.left <= 0) {
      kept.push(['…', '…'])
      break
    }
    const member = (value as Record<string, unknown>)[name]
    kept.push([redactName(name), redactValue(member, name, depth + 1, budget)])
  }
  return Object.fromEntries(kept)
}

/** A member's name stays where it reads like one. */
export const redactName = (name: string): string => (isWord(name) ? name : hidden)

/** The text of a member, or of a parameter in a query. */
const redactText = (text: string, member: string): string => {
  if (text === '' || isUuid(text) || isDateTime(text) || isTime(text)) return text
  if (wordMembers.has(member) && isWord(text)) return text
  return text.startsWith('+') && isNumber(text) ? maskNumber(text) : hidden
}

/** The country code's beginning and the last two digits: enough to tell two calls apart. */
const maskNumber = (text: string): string => `${text.slice(0, 2)}${hidden}${text.slice(-2)}`

const maxNumberLength = 16
const isNumber = (text: string): boolean =>
  text.length > maxDigits && text.length <= maxNumberLength && countDigits(text) === text.length - 1

const isSmall = (value: number): boolean => countDigits(String(value)) <= maxDigits

const isWord = (text: string): boolean =>
  text.length <= maxNameLength &&
  /^[a-z][a-z0-9_]*$/.test(text) &&
  countDigits(text) <= maxDigitsOfName

const dateTimeLength = 40
const isDateTime = (text: string): boolean =>
  text.length <= dateTimeLength &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(text)

/** `09:00`, of a calling window. */
const isTime = (text: string): boolean => /^\d\d:\d\d$/.test(text)

const countDigits = (text: string): number => {
  let digits = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code >= 0x30 && code <= 0x39) digits += 1
  }
  return digits
}

const maxSegments = 10

/**
 * The path of a request that led to no operation. Its first word stays, because that is where paths are mistaken;
 * behind it only ids and the words of known paths do.
 */
export const redactPath = (path: string): string => {
  const [, first = '', ...others] = path.split('/', maxSegments + 1)
  const shown = [
    isWord(first.replaceAll('-', '_')) || first === '' ? first : hidden,
    ...others.map((segment) => (isUuid(segment) || pathWords.has(segment) ? segment : hidden)),
  ]
  return `/${shown.join('/')}`
}

const pathWords = new Set(
  Object.values(operations)
    .flatMap(({ path }) => path.split('/'))
    .filter((segment) => !segment.startsWith('{')),
)

const maxParameters = 20

/** A query with its parameters' names; `limit=10` and ids stay. Empty where there is none. */
export const redactQuery = (query: string): string => {
  if (query === '') return ''
  const kept: string[] = []
  for (const [name, value] of new URLSearchParams(query.slice(0, maxQueryLength))) {
    if (kept.length >= maxParameters) break
    const isPlain = /^\d+$/.test(value) && value.length <= maxDigits
    const shown = isPlain || value === 'true' || value === 'false'
    kept.push(`${redactName(name)}=${shown ? value : encodeTimes(redactText(value, name))}`)
  }
  return `?${kept.join('&')}`
}

const maxQueryLength = 2_000

/** `+` of a zone would be a space. */
const encodeTimes = (text: string): string => text.replaceAll('+', '%2B')
