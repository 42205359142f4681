import { membersOf } from './draft.ts'

export interface Difference {
  /** `steps.first_call.retry.delays[0]` */
  readonly path: string
  /** Undefined: it was not there. */
  readonly before: unknown
  readonly after: unknown
}

/** Where two JSON values differ: each member that is new, gone or another. */
export const differencesOf = (before: unknown, after: unknown, path = ''): Difference[] => {
  if (Array.isArray(before) && Array.isArray(after))
    return Array.from({ length: Math.max(before.length, after.length) }, (_, at) =>
      differencesOf(before[at], after[at], `${path}[${at}]`),
    ).flat()
  if (isObject(before) && isObject(after)) {
    const [old, present] = [membersOf(before), membersOf(after)]
    const names = new Set([...Object.keys(old), ...Object.keys(present)])
    return [...names].flatMap((name) =>
      differencesOf(old[name], present[name], path === '' ? name : `${path}.${name}`),
    )
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path, before, after }]
}

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
