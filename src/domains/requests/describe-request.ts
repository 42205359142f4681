import type { AnsweredRequest } from '../../contract/answered-request.ts'
import { isUuid } from '../../runtime/ids.ts'
import { hidden, redact, redactName, redactPath, redactQuery } from './redact.ts'
import type { NewRequestRow } from './request-store.ts'

/** What identifies a request among others; it exists before the description. */
export interface Noted {
  readonly id: string
  readonly at: Date
}

/** The row of a request: nothing in it is of people. The work is bounded, whatever the size of the request. */
export const describeRequest = (request: AnsweredRequest, { id, at }: Noted): NewRequestRow => {
  const { principal, status, isClaimed, isReplay } = request
  const { body, code, fields } = readAnswer(request)
  return {
    organization_id: principal.organizationId,
    id,
    at: at.toISOString(),
    request_id: request.requestId,
    api_key_id: principal.apiKeyId,
    method: methodOf(request),
    operation: request.operation ?? null,
    path: pathOf(request),
    status,
    duration_ms: Math.min(Math.round(request.durationMs), maxDurationMs),
    idempotency: isClaimed ? (isReplay ? 'replayed' : status < 400 ? 'new' : 'refused') : null,
    error_code: code,
    error_fields: fields,
    ...targetOf(request),
    request_body: request.body === undefined ? null : redact(request.body),
    response_body: body,
  }
}

const maxDurationMs = 2_000_000_000
const maxMethodLength = 20

/** Only what reads like a method: a client may write anything there. */
const methodOf = ({ method }: AnsweredRequest): string =>
  method.length <= maxMethodLength && /^[A-Z]+$/.test(method) ? method : hidden

const pathOf = ({ template, params, target }: AnsweredRequest): string => {
  const mark = target.indexOf('?')
  const path = mark === -1 ? target : target.slice(0, mark)
  const query = mark === -1 ? '' : redactQuery(target.slice(mark + 1))
  const shown =
    template === undefined
      ? redactPath(path)
      : template.replace(/\{(\w+)\}/g, (_, name: string) => idOf(params[name]) ?? hidden)
  return shown + query
}

const idOf = (value: string | undefined): string | undefined =>
  value !== undefined && isUuid(value) ? value : undefined

/** Responses beyond this are not kept: those of changes and refusals are short. */
const maxAnswerLength = 64 * 1024
const maxFields = 10

interface ShownAnswer {
  readonly body: unknown
  readonly code: string | null
  readonly fields: unknown
}

/** What was read is not kept: it is the organization's data, and long. */
const readAnswer = ({ answer, status, method }: AnsweredRequest): ShownAnswer => {
  const isRead = (method === 'GET' || method === 'HEAD') && status < 400
  if (isRead || answer.length > maxAnswerLength) return { body: null, code: null, fields: null }
  const parsed = JSON.parse(answer) as { readonly error?: ErrorOfAnswer }
  const { error } = parsed
  if (status < 400 || !error) return { body: redact(parsed), code: null, fields: null }
  const fields = error.details?.fields?.slice(0, maxFields).map(({ path, code }) => ({
    path: redactFieldPath(path),
    code,
  }))
  return {
    body: { error: { code: error.code, ...(fields && { details: { fields } }) } },
    code: error.code,
    fields: fields ?? null,
  }
}

interface ErrorOfAnswer {
  readonly code: string
  readonly details?: {
    readonly fields?: readonly { readonly path: string; readonly code: string }[]
  }
}

const maxParts = 10

/** `recipients[3].phone_number`: a member that nobody knows may be named after a person. */
const redactFieldPath = (path: string): string =>
  path
    .split('.', maxParts)
    .map((part) => {
      const at = part.indexOf('[')
      const [name, place] = at === -1 ? [part, ''] : [part.slice(0, at), part.slice(at)]
      const isPlace = /^(?:\[\d{1,6}\])*$/.test(place)
      return `${name === '' ? '' : redactName(name)}${isPlace ? place : ''}`
    })
    .join('.')

const targetTypes: Readonly<Record<string, string>> = {
  calls: 'call',
  batches: 'batch',
  contacts: 'contact',
  automations: 'automation',
  'automation-runs': 'automation_run',
  recordings: 'recording',
}

/** What the request made, by its Location, else what its path names. */
const targetOf = ({ template, params, location, isReplay }: AnsweredRequest) => {
  const made = location === undefined ? undefined : idOf(location.split('/').at(-1))
  const id = made ?? idOf(Object.values(params)[0])
  const type = targetTypes[(location ?? template ?? '').split('/')[1] ?? '']
  return id === undefined || type === undefined
    ? { target_type: null, target_id: null, made: false }
    : { target_type: type, target_id: id, made: made !== undefined && !isReplay }
}
