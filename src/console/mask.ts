import type { Principal } from '../contract/principal.ts'

/**
 * What a viewer is shown in place of numbers, names and words (D18). It goes by the names of members, wherever they stand
 * in an answer, so that no operation can forget it.
 */
export const maskForViewers = (principal: Principal, body: unknown): unknown =>
  principal.kind === 'session' && principal.role === 'viewer' ? masked(body) : body

const hidden = '•••'

/** The country code's beginning and the last two digits: enough to tell two calls apart. */
const maskNumber = (text: string): string => `${text.slice(0, 2)}${hidden}${text.slice(-2)}`

/** The rest of a text goes as well: `hidden` says nothing of its length. */
const hide = (): string => hidden

const maskText =
  (mask: (text: string) => string) =>
  (value: unknown): unknown =>
    typeof value === 'string' && value !== '' ? mask(value) : value

/** Its kind is no secret; a text or a number may be one. */
const maskAnswer = (text: string): string =>
  text.startsWith('decline') ? text : `${text.slice(0, text.indexOf(':') + 1)}${hidden}`

/** Values that a branch compares with: they are of people. */
const hideList = (value: unknown): unknown => (Array.isArray(value) ? value.map(hide) : value)

const drop = Symbol('drop')

/** By member name. What is not listed is shown. */
const masks: Readonly<Record<string, (value: unknown) => unknown>> = {
  phone_number: maskText(maskNumber),
  recipient_number: maskText(maskNumber),
  // Of a transfer.
  to: maskText(maskNumber),
  contact_name: maskText(hide),
  email: maskText(hide),
  calls_back: maskText(maskAnswer),
  external_id: maskText(hide),
  text: maskText(hide),
  summary: maskText(hide),
  outcome_reason: maskText(hide),
  request_body: () => null,
  response_body: () => null,
  curl: maskText(hide),
  results: () => null,
  facts: () => null,
  download_url: () => drop,
  download_url_expires_at: () => drop,
  peaks: () => drop,
  'contact.name': hideList,
  'contact.phone_number': hideList,
  'contact.external_id': hideList,
  'contact.email': hideList,
  'contact.company': hideList,
  'contact.role': hideList,
  'contact.city': hideList,
  // The members of an Automation's steps are named by administrators, also `summary` or `results`.
  steps: (value) => (isObject(value) ? mapMembers(value, masked) : masked(value)),
}

/** Members of a person that are theirs only beside a phone number: an agent's name is no secret. */
const ofPeople = new Set(['name', 'company', 'role', 'city'])

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const mapMembers = (value: object, map: (member: unknown) => unknown): unknown =>
  Object.fromEntries(Object.entries(value).map(([name, member]) => [name, map(member)]))

const masked = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(masked)
  if (!isObject(value)) return value
  const isPerson = 'phone_number' in value
  const members = Object.entries(value).map(([name, member]) => {
    if (isPerson && ofPeople.has(name)) return [name, maskText(hide)(member)]
    const mask = masks[name]
    return [name, mask ? mask(member) : masked(member)]
  })
  return Object.fromEntries(members.filter(([, member]) => member !== drop)) as unknown
}
