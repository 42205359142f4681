/** An agent's file as operators write it; the service checks it when it is published. */
export type AgentFile = Readonly<Record<string, unknown>>

export const emptyAgent: AgentFile = {
  name: '',
  language: 'en-US',
  greeting: '',
  prompt: '',
  voicemail: 'hang_up',
}

/** A problem that the service found, at its place in the file. */
export interface Problem {
  readonly path: string
  readonly message: string
}

export const isMembers = (value: unknown): value is AgentFile =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const textOf = (file: AgentFile, name: string): string => {
  const value = file[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** The file with another member; an empty text leaves it out. */
export const withMember = (file: AgentFile, name: string, value: unknown): AgentFile => {
  const { [name]: _, ...others } = file
  return value === '' || value === undefined ? others : { ...file, [name]: value }
}

/** The items of a list, whatever stands in its place. */
export const itemsOf = (file: AgentFile, name: string): readonly unknown[] => {
  const value = file[name]
  return Array.isArray(value) ? (value as unknown[]) : []
}

/** The order in which people write members; others follow. */
const order = [
  'name',
  'builtin',
  'slug',
  'description',
  'language',
  'disclosure',
  'greeting',
  'prompt',
  'voice',
  'max_duration_seconds',
  'voicemail',
  'voicemail_message',
  'turn_taking',
  'outcomes',
  'tools',
  'engine',
  'kind',
  'to',
  'method',
  'url',
  'headers',
  'parameters',
]

const placeOf = (name: string): number => {
  const place = order.indexOf(name)
  return place < 0 ? order.length : place
}

/** The file as text that is read and written by people, and by outdial agent create. */
export const sourceOf = (file: AgentFile): string => `${JSON.stringify(ordered(file), null, 2)}\n`

const ordered = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(ordered)
  if (!isMembers(value)) return value
  const members = Object.entries(value).toSorted(([one], [other]) => placeOf(one) - placeOf(other))
  return Object.fromEntries(members.map(([name, member]) => [name, ordered(member)]))
}

/** A file name that every system takes. */
export const fileNameOf = (file: AgentFile, version?: number): string => {
  const words = textOf(file, 'name')
    .toLowerCase()
    .match(/[a-z0-9]+/g) ?? ['agent']
  const name = words.join('-').slice(0, 60)
  return version === undefined ? `${name}.json` : `${name}-v${version}.json`
}

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g

/** Where in a JSON text the member of a path stands, or the nearest that is there. */
export const offsetOf = (source: string, path: string): number => {
  const wanted = path.match(/[^.[\]]+/g) ?? []
  const open: { isList: boolean; at: string }[] = []
  let [offset, matched] = [0, 0]
  let text = ''
  for (const { 0: found, index } of source.matchAll(token)) {
    const inside = open.at(-1)
    if (found.startsWith('"')) {
      text = found
      continue
    }
    if (found === '{' || found === '[') open.push({ isList: found === '[', at: '0' })
    else if (found === '}' || found === ']') open.pop()
    else if (found === ',' && inside?.isList) inside.at = String(Number(inside.at) + 1)
    else if (found === ':' && inside) inside.at = text.slice(1, -1)
    const depth = open.findIndex(({ at }, level) => at !== wanted[level])
    const common = depth < 0 ? Math.min(open.length, wanted.length) : depth
    const isMember = found === ':' || inside?.isList === true || found === '['
    if (isMember && common > matched) {
      matched = common
      offset = found === ':' ? index - text.length : index
    }
  }
  return offset
}
