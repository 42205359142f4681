import type { ErrorEnvelope } from '../../../src/contract/error-envelope.ts'
import type { AnyErrorCode, FieldProblem } from '../../../src/contract/errors.ts'

/** What a request came to that was not served: the members of the error envelope, or why none came. */
export class RequestFailure extends Error {
  /** 0 where the service could not be reached. */
  readonly status: number
  readonly code: AnyErrorCode | 'unreachable'
  readonly requestId: string | undefined
  readonly fields: readonly FieldProblem[]
  readonly retryAfterSeconds: number | undefined

  constructor(
    message: string,
    known: {
      status: number
      code: AnyErrorCode | 'unreachable'
      requestId?: string | undefined
      fields?: readonly FieldProblem[] | undefined
      retryAfterSeconds?: number | undefined
      cause?: unknown
    },
  ) {
    super(message, { cause: known.cause })
    this.name = 'RequestFailure'
    this.status = known.status
    this.code = known.code
    this.requestId = known.requestId
    this.fields = known.fields ?? []
    this.retryAfterSeconds = known.retryAfterSeconds
  }
}

/** The service is not there, or is not ready: the same request may be served later. */
export const isPassing = (error: unknown): boolean =>
  error instanceof RequestFailure && (error.status === 0 || error.status === 503)

export const hasStatus = (error: unknown, status: number): boolean =>
  error instanceof RequestFailure && error.status === status

/** Reads an answer that is no 2xx. A proxy's page instead of the envelope is a failure as well. */
export const failureOf = async (response: Response): Promise<RequestFailure> => {
  const retryAfter = Number(response.headers.get('retry-after') ?? NaN)
  const retryAfterSeconds = Number.isFinite(retryAfter) ? retryAfter : undefined
  const { status } = response
  const envelope = await readEnvelope(response)
  if (!envelope)
    return new RequestFailure(`The service answered with status ${status}.`, {
      status,
      code: 'internal_error',
      retryAfterSeconds,
    })
  const { code, message, request_id: requestId, details } = envelope.error
  return new RequestFailure(message, {
    status,
    code,
    requestId,
    fields: details?.fields,
    retryAfterSeconds,
  })
}

const readEnvelope = async (response: Response): Promise<ErrorEnvelope | undefined> => {
  try {
    const body = (await response.json()) as Partial<ErrorEnvelope> | null
    return typeof body?.error?.message === 'string' ? (body as ErrorEnvelope) : undefined
  } catch {
    return undefined
  }
}
