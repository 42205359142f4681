import { ApiError } from '../contract/api-error.ts'
import type { Bucket } from '../contract/buckets.ts'
import type { Method, Operation, Operations } from '../contract/define-operation.ts'

/** A path, and everything below it, that no bearer key may use (D14). */
export interface ClosedArea {
  readonly path: string
  readonly methods: readonly Method[]
  readonly bucket: Bucket
}

/** Where a request leads: to an operation, or into a closed area. */
export type Target =
  | {
      readonly kind: 'operation'
      readonly name: string
      readonly operation: Operation
      readonly params: Readonly<Record<string, string>>
      readonly bucket: Bucket
    }
  | { readonly kind: 'closed'; readonly bucket: Bucket }

export interface Router {
  /**
   * Finds the target. Throws 404 for an unknown path (also one with a trailing slash) and
   * `MethodNotAllowed` for a known path with any other method. HEAD is GET.
   */
  find(method: string, path: string): Target
}

/** 405 with what `Allow` lists. */
export class MethodNotAllowed extends ApiError {
  readonly allowed: readonly string[]

  constructor(allowed: readonly string[]) {
    super('method_not_allowed', `This path knows only: ${allowed.join(', ')}.`)
    this.allowed = allowed
  }
}

/** Routes from the operations table alone; matched segment by segment, literal templates first. */
export const createRouter = (operations: Operations, closed: readonly ClosedArea[]): Router => {
  const routes = routesOf(operations)

  const match = (path: string): Match | undefined => {
    const segments = decodeSegments(path)
    if (!segments) return undefined
    for (const route of routes) {
      const params = matchSegments(route.segments, segments)
      if (params) return { ...route, params }
    }
    return areaOf(path)
  }
  /** The closed area that a path lies in, be there an operation or none. */
  const areaOf = (path: string): Match | undefined => {
    const segments = decodeSegments(path)
    const area = closed.find(({ path: root }) => segments?.[0] === root.slice(1))
    return area && !segments?.includes('') ? closedMatch(area) : undefined
  }
  const closedTargetsOf = (path: string): Match['targets'] => areaOf(path)?.targets ?? new Map()
  return {
    find(method, path) {
      const found = match(path)
      if (!found) throw unknownPath()
      const asked = method === 'HEAD' ? 'GET' : method
      const target = found.targets.get(asked) ?? closedTargetsOf(path).get(asked)
      if (!target)
        throw new MethodNotAllowed(allowedOf(new Map([...closedTargetsOf(path), ...found.targets])))
      return target.kind === 'operation' ? { ...target, params: found.params } : target
    },
  }
}

interface Route {
  readonly segments: readonly string[]
  readonly targets: ReadonlyMap<string, Target>
}

interface Match {
  readonly targets: ReadonlyMap<string, Target>
  readonly params: Readonly<Record<string, string>>
}

const routesOf = (operations: Operations): readonly Route[] => {
  const byPath = new Map<string, Map<string, Target>>()
  for (const [name, operation] of Object.entries(operations)) {
    const targets = byPath.get(operation.path) ?? new Map<string, Target>()
    targets.set(operation.method, {
      kind: 'operation',
      name,
      operation,
      params: {},
      bucket: operation.bucket,
    })
    byPath.set(operation.path, targets)
  }
  return [...byPath]
    .sort(([a], [b]) => Number(a.includes('{')) - Number(b.includes('{')))
    .map(([path, targets]) => ({ segments: path.slice(1).split('/'), targets }))
}

const closedMatch = ({ methods, bucket }: ClosedArea): Match => ({
  targets: new Map(methods.map((method) => [method, { kind: 'closed', bucket }])),
  params: {},
})

/** Percent-decoded segments of an absolute path; `undefined` for any other text. */
const decodeSegments = (path: string): readonly string[] | undefined => {
  if (!path.startsWith('/')) return undefined
  const segments = path.slice(1).split('/')
  return path.includes('%') ? segments.map(decodeSegment) : segments
}

/** What no id may hold (D1): the path stays known, and its schema refuses the id as any other malformed one. */
const malformedId = '\0'

const decodeSegment = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return malformedId
  }
}

const noParams: Readonly<Record<string, string>> = {}

const matchSegments = (
  template: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> | undefined => {
  if (template.length !== segments.length) return undefined
  let params = noParams
  for (let at = 0; at < template.length; at += 1) {
    const expected = template[at] ?? ''
    const given = segments[at] ?? ''
    if (expected.startsWith('{') && given !== '')
      params = { ...params, [expected.slice(1, -1)]: given }
    else if (expected !== given) return undefined
  }
  return params
}

const allowedOf = (targets: Match['targets']): readonly string[] =>
  [...targets.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))

const unknownPath = (): ApiError => new ApiError('resource_not_found', 'There is no such path.')
