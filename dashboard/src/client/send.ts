import { routes } from 'virtual:console-routes'
import { takeEarly } from './early-requests.ts'
import { failureOf, RequestFailure } from './failure.ts'
import { beginAnew, shownOrganization } from './window-organization.ts'
import type { AnswerOf, InputOf, OperationName } from './table.ts'

interface SendOptions {
  readonly signal?: AbortSignal
  /** The same for every try of one wish, so that a repeated try is served once. */
  readonly idempotencyKey?: string
}

/** A request without an answer is given up after this. */
const requestTimeoutMs = 30_000

/** Sends one operation of the table. Throws `RequestFailure` for everything but a 2xx. */
export const send = async <Name extends OperationName>(
  name: Name,
  input: InputOf<Name>,
  { signal, idempotencyKey = crypto.randomUUID() }: SendOptions = {},
): Promise<AnswerOf<Name>> => {
  const route = routes[name]
  if (!route) throw new Error(`No operation is named ${name}.`)
  const { params, query, body } = input as LooseInput
  const hasBody = route.method === 'POST' || route.method === 'PATCH'
  const url = `${fillPath(route.path, params)}${queryText(query)}`
  const early = route.method === 'GET' ? takeEarly(url) : undefined
  const response = await reach(url, early, {
    method: route.method,
    credentials: 'same-origin',
    headers: {
      Accept: 'application/json',
      ...namedOrganization(),
      ...(hasBody && { 'Content-Type': 'application/json' }),
      ...(route.idempotency !== 'none' && { 'Idempotency-Key': idempotencyKey }),
    },
    ...(hasBody && { body: JSON.stringify(body ?? {}) }),
    signal: boundedSignal(signal),
  })
  if (!response.ok) {
    const failure = await failureOf(response)
    if (failure.code === 'organization_changed') beginAnew()
    throw failure
  }
  return (await response.json()) as AnswerOf<Name>
}

/** The service refuses what a window asks for that shows another organization than the session looks at. */
const namedOrganization = (): Record<string, string> => {
  const shown = shownOrganization()
  return shown === undefined ? {} : { 'Outdial-Organization': shown }
}

interface LooseInput {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
}

const boundedSignal = (signal: AbortSignal | undefined): AbortSignal => {
  const timeout = AbortSignal.timeout(requestTimeoutMs)
  return signal ? AbortSignal.any([signal, timeout]) : timeout
}

const reach = async (
  url: string,
  early: Promise<Response> | undefined,
  init: RequestInit,
): Promise<Response> => {
  try {
    return await (early ?? fetch(url, init))
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new RequestFailure('The service cannot be reached. It may be restarting.', {
      status: 0,
      code: 'unreachable',
      cause: error,
    })
  }
}

/** `/calls/{call_id}` with its parameters in place. */
export const fillPath = (template: string, params: LooseInput['params'] = {}): string =>
  template.replace(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))

/** `?status=queued`; empty members are left out. */
export const queryText = (query: LooseInput['query'] = {}): string => {
  const given = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}
