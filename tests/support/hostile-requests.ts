import fc from 'fast-check'
import { hasBody, type Operation } from '../../src/contract/define-operation.ts'
import { operations } from '../../src/contract/operations.ts'

/** One request to send over a socket; headers may repeat. */
export interface HostileRequest {
  /** The operation it was derived from, for the report. */
  readonly origin: string
  readonly method: string
  readonly path: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer | undefined
}

/** Existing identifiers, by their names in paths and bodies (`call_id`), so that some requests reach a resource. */
export type KnownIds = Readonly<Record<string, readonly string[]>>

/** Requests around every operation of the table, with equal probability: valid ones, and ones with a few errors. */
export const hostileRequests = (key: string, known: KnownIds): fc.Arbitrary<HostileRequest> =>
  fc
    .constantFrom(...Object.entries<Operation>(operations))
    .chain(([origin, operation]) => {
      const draft = validRequest(origin, operation, key, known)
      const faults = fc.array(fault(operation), { maxLength: 3 })
      return fc
        .tuple(
          draft,
          fc.oneof({ weight: 1, arbitrary: fc.constant([]) }, { weight: 3, arbitrary: faults }),
        )
        .map(([request, found]) => found.reduce((spoilt, spoil) => spoil(spoilt), request))
    })
    .map(({ query, json, ...request }) => ({
      ...request,
      path: query.length === 0 ? request.path : `${request.path}?${query.join('&')}`,
      body: request.body ?? (json === undefined ? undefined : Buffer.from(JSON.stringify(json))),
    }))

interface Draft extends HostileRequest {
  readonly query: readonly string[]
  readonly json: unknown
}

type Fault = (draft: Draft) => Draft

const validRequest = (
  origin: string,
  operation: Operation,
  key: string,
  known: KnownIds,
): fc.Arbitrary<Draft> =>
  fc
    .record({ at: fc.nat(50), nonce: fc.nat(500), unknown: fc.uuid(), query: queryOf(operation) })
    .map(({ at, nonce, unknown, query }) => {
      const idOf = (name: string): string => {
        const ids = known[name] ?? []
        return ids[at % (ids.length + 1)] ?? unknown
      }
      return {
        origin,
        method: operation.method,
        path: operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => idOf(name)),
        headers: [
          ['authorization', `Bearer ${key}`],
          ['content-type', 'application/json'],
          ['idempotency-key', `fuzz-${nonce}`],
        ],
        query,
        json: hasBody(operation.method) ? varied(operation.bodyExample, idOf, at) : undefined,
        body: undefined,
      }
    })

/** The example body with existing identifiers, and as contacts one of 51 people, or several of them. */
const varied = (body: unknown, idOf: (name: string) => string, at: number): unknown => {
  let [identities, numbers] = [at, at]
  return JSON.parse(JSON.stringify(body), (name, value: unknown) => {
    if (name === 'external_id') return `fuzz-${identities++ % 51}`
    if (name === 'phone_number') return `+120255501${String((numbers++ % 51) + 10)}`
    if (name === 'calling_window' && at % 2 === 0) return undefined
    return name.endsWith('_id') ? idOf(name) : value
  })
}

const goodValues: Readonly<Record<string, string>> = {
  limit: '7',
  status: 'queued',
  include: 'download_url',
  expires_in: '60',
  created_after: '2026-01-01T00:00:00Z',
  created_before: '2026-12-01T00:00:00%2B02:00',
}

const queryOf = ({ query }: Operation): fc.Arbitrary<string[]> => {
  const names = membersOf(query).filter((name) => name !== 'cursor')
  return fc
    .subarray(names, { maxLength: Math.min(3, names.length) })
    .map((chosen) => chosen.map((name) => `${name}=${goodValues[name] ?? 'x'}`))
}

const membersOf = (schema: Operation['query']): string[] =>
  'shape' in schema && typeof schema.shape === 'object' && schema.shape !== null
    ? Object.keys(schema.shape)
    : []

/** Text that causes problems in parsers, databases and path routers. */
const nastyText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\u0000',
    '\ud800',
    '\ufeff',
    '%00',
    '%zz',
    '../..',
    "' or 1=1 --",
    '__proto__',
    'constructor',
    '9'.repeat(400),
    '-0',
    '1e999',
    '😀'.repeat(300),
    '\u202e',
  ),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
)

const nastyJson = fc.oneof(
  { weight: 3, arbitrary: nastyText },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(null, true, 1e308, -1, [], {}, [[]]) },
)

/** A header's value may contain any byte except the line's end. */
const headerValue = fc
  .oneof(nastyText, fc.constantFrom('bearer x', 'Bearer  x', 'text/plain', '2026-07-17', 'gzip'))
  .map((text) =>
    Buffer.from(text, 'utf8')
      .toString('latin1')
      .replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, ''),
  )

const headerNames = [
  'authorization',
  'service-version',
  'x-request-id',
  'idempotency-key',
  'content-type',
  'content-encoding',
  'host',
] as const

const fault = (operation: Operation): fc.Arbitrary<Fault> =>
  fc.oneof(
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PURGE')
        .map(withMethod),
    },
    { weight: 2, arbitrary: fc.tuple(fc.nat(6), nastyText).map(withSegment) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.constantFrom(...membersOf(operation.query), 'cursor', 'x'), nastyText)
        .map(withParameter),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom(...headerNames), headerValue, fc.boolean())
        .map(withHeader),
    },
    ...(operation.method === 'GET'
      ? []
      : [
          { weight: 5, arbitrary: fc.tuple(fc.nat(12), nastyText, nastyJson).map(withMember) },
          { weight: 2, arbitrary: fc.oneof(nastyText, fc.json()).map(withRawBody) },
          { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map(withBytes) },
          { weight: 1, arbitrary: fc.nat(200).map(withNesting) },
        ]),
  )

const withMethod =
  (method: string): Fault =>
  (draft) => ({ ...draft, method })

const withSegment =
  ([at, text]: readonly [number, string]): Fault =>
  (draft) => {
    const segments = draft.path.split('/')
    segments.splice(1 + (at % segments.length), at % 2, encodeLoosely(text))
    return { ...draft, path: segments.join('/') }
  }

const withParameter =
  ([name, text]: readonly [string, string]): Fault =>
  (draft) => ({ ...draft, query: [...draft.query, `${name}=${encodeLoosely(text)}`] })

const withHeader =
  ([name, value, isAdded]: readonly [string, string, boolean]): Fault =>
  (draft) => ({
    ...draft,
    headers: [...draft.headers.filter(([other]) => isAdded || other !== name), [name, value]],
  })

/** Changes an existing member, or adds one, at the top or one level down. */
const withMember =
  ([at, name, value]: readonly [number, string, unknown]): Fault =>
  (draft) => {
    if (typeof draft.json !== 'object' || draft.json === null) return { ...draft, json: value }
    const names = [...Object.keys(draft.json), 'recipient', name]
    const chosen = names[at % names.length] ?? name
    const inner =
      chosen === 'recipient' && at % 2 === 0 ? { external_id: 'e', [name]: value } : value
    return { ...draft, json: { ...draft.json, [chosen]: inner } }
  }

const withRawBody =
  (text: string): Fault =>
  (draft) => ({ ...draft, body: Buffer.from(text) })

const withBytes =
  (bytes: Uint8Array): Fault =>
  (draft) => ({ ...draft, body: Buffer.from(bytes) })

const withNesting =
  (levels: number): Fault =>
  (draft) => ({ ...draft, body: Buffer.from('{"a":'.repeat(levels) + '1' + '}'.repeat(levels)) })

/** Escapes what a request target must not contain, and leaves the rest hostile. */
const encodeLoosely = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[^\x21-\x7e]|[#?&]/gu, (character) => encodeURIComponent(character))
    .slice(0, 3000)
