/** What administrators are shown in the place of a credential. */
const hidden = '(hidden)'

/** Members in which `url` and `headers` are names that a model fills in, and no requests. */
const schemas: ReadonlySet<string> = new Set(['parameters', 'results'])

type Members = Readonly<Record<string, unknown>>

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const memberOf = (members: Members, name: string): unknown =>
  Object.hasOwn(members, name) ? members[name] : undefined

const mapMembers = (members: Members, map: (name: string, value: unknown) => unknown): Members =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, map(name, value)]))

/** An agent file, also an unfinished one, without the values of headers and the passwords of URLs. */
export const hideSecrets = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(hideSecrets)
  if (!isMembers(value)) return value
  return mapMembers(value, (name, member) => {
    if (schemas.has(name)) return member
    if (name === 'headers') return hideAll(member)
    if (name === 'url' && typeof member === 'string') return withoutPassword(member)
    return hideSecrets(member)
  })
}

const hideAll = (headers: unknown): unknown =>
  isMembers(headers) ? mapMembers(headers, () => hidden) : hidden

const userinfo = /^([a-z]+:\/\/)([^/?#]*)@/i

const withoutPassword = (url: string): string => url.replace(userinfo, `$1${hidden}@`)

/** Whether a text stands for a credential that is not in it. */
export const isHidden = (text: string): boolean =>
  text === hidden || userinfo.exec(text)?.[2] === hidden

/**
 * An agent file in which hidden values are those of an earlier file, as long as they go to the same server: who
 * changes an agent must not learn what others put into it. What was not found stays hidden.
 */
export const withKeptSecrets = (file: unknown, earlier: unknown): unknown => {
  if (Array.isArray(file))
    return file.map((item: unknown, at) => withKeptSecrets(item, counterpart(item, at, earlier)))
  if (!isMembers(file)) return file
  const former = isMembers(earlier) ? earlier : {}
  const isSameServer = serverOf(memberOf(file, 'url')) === serverOf(memberOf(former, 'url'))
  return mapMembers(file, (name, member) => {
    if (schemas.has(name)) return member
    const kept = memberOf(former, name)
    if (name === 'headers') return isSameServer ? keptHeaders(member, kept) : member
    if (name === 'url') return isSameServer ? keptUrl(member, kept) : member
    return withKeptSecrets(member, kept)
  })
}

/** Tools are known by their names, because they may change places. */
const counterpart = (item: unknown, at: number, earlier: unknown): unknown => {
  if (!Array.isArray(earlier)) return undefined
  const name = isMembers(item) ? memberOf(item, 'name') : undefined
  if (typeof name !== 'string') return earlier[at]
  return earlier.find((each) => isMembers(each) && memberOf(each, 'name') === name)
}

const serverOf = (url: unknown): string => {
  if (typeof url !== 'string') return ''
  // Custom schemes, which are refused later, have the origin "null".
  return URL.canParse(url) ? `${new URL(url).protocol}//${new URL(url).host}` : url
}

const keptHeaders = (headers: unknown, kept: unknown): unknown => {
  if (headers === hidden) return kept ?? headers
  if (!isMembers(headers) || !isMembers(kept)) return headers
  return mapMembers(headers, (name, value) =>
    value === hidden ? (memberOf(kept, name) ?? value) : value,
  )
}

const keptUrl = (url: unknown, kept: unknown): unknown => {
  if (typeof url !== 'string' || typeof kept !== 'string' || !isHidden(url)) return url
  const secret = userinfo.exec(kept)?.[2]
  // A function, because a password may contain "$1".
  return secret === undefined
    ? url
    : url.replace(userinfo, (_, scheme: string) => `${scheme}${secret}@`)
}
