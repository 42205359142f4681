import { hideSecrets } from './hidden-values.ts'

/** One difference between two agent files; a side that lacks the member is left out. */
export interface Difference {
  /** `greeting`, `tools[book].url`. */
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
  /** The values differ, and both are hidden. */
  readonly is_hidden?: true
}

/** Differences that are returned: more than an agent has members that people compare one by one. */
const maxDifferences = 200

interface Side {
  readonly value: unknown
  /** The same without credentials. */
  readonly shown: unknown
}

const absent: Side = { value: undefined, shown: undefined }

/** What differs, member by member. Credentials are compared, and not shown. */
export const agentDifferences = (before: unknown, after: unknown): Difference[] => {
  const found: Difference[] = []
  compare('', sideOf(before), sideOf(after), found)
  return found
}

const sideOf = (value: unknown): Side => ({ value, shown: hideSecrets(value) })

const compare = (path: string, before: Side, after: Side, found: Difference[]): void => {
  if (found.length >= maxDifferences) return
  const parts = partsOf(before, after)
  if (parts) {
    for (const { name, left, right } of parts) compare(path + name, left, right, found)
    return
  }
  const same = JSON.stringify(before.value) === JSON.stringify(after.value)
  if (same) return
  const isHidden = JSON.stringify(before.shown) === JSON.stringify(after.shown)
  found.push({
    path: path.replace(/^\./, ''),
    ...(before.value !== undefined && { before: before.shown }),
    ...(after.value !== undefined && { after: after.shown }),
    ...(isHidden && { is_hidden: true }),
  })
}

interface Part {
  readonly name: string
  readonly left: Side
  readonly right: Side
}

/** The members of two objects, or the items of two lists whose items have names; undefined for anything else. */
const partsOf = (before: Side, after: Side): Part[] | undefined => {
  const [left, right] = [membersOf(before), membersOf(after)]
  if (!left || !right || left.isList !== right.isList) return undefined
  const names = new Set([...left.members.keys(), ...right.members.keys()])
  return [...names].map((name) => ({
    name: left.isList ? `[${name}]` : `.${name}`,
    left: left.members.get(name) ?? absent,
    right: right.members.get(name) ?? absent,
  }))
}

const membersOf = (side: Side) => {
  const { value, shown } = side
  if (Array.isArray(value)) return itemsOf(value, shown as unknown[])
  if (typeof value !== 'object' || value === null) return undefined
  const members = Object.entries(value).map(([name, member]): [string, Side] => [
    name,
    { value: member, shown: Reflect.get(shown as object, name) as unknown },
  ])
  return { isList: false, members: new Map(members) }
}

/** Items by the name that is theirs alone, because they may change places. */
const itemsOf = (items: readonly unknown[], shown: readonly unknown[]) => {
  const members = new Map<string, Side>()
  for (const [at, value] of items.entries()) {
    const name = nameOf(value)
    if (name === undefined || members.has(name)) return undefined
    members.set(name, { value, shown: shown[at] })
  }
  return { isList: true, members }
}

const nameOf = (item: unknown): string | undefined => {
  if (typeof item !== 'object' || item === null) return undefined
  const names: unknown[] = ['name', 'slug', 'builtin'].map((each) => Reflect.get(item, each))
  return names.find((name) => typeof name === 'string')
}
