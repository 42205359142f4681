import type { KeyPrincipal } from './principal.ts'

/** A request of a key with its response, as it came: a person's data may be in it. */
export interface AnsweredRequest {
  readonly principal: KeyPrincipal
  readonly requestId: string
  readonly method: string
  /** Path and query as the client wrote them. */
  readonly target: string
  /** Undefined: it led to no operation. */
  readonly operation: string | undefined
  /** The path's template of that operation. */
  readonly template: string | undefined
  /** By their names in the template. */
  readonly params: Readonly<Record<string, string>>
  readonly status: number
  readonly durationMs: number
  /** Whether it was counted in an allowance and found room there: the number of others is bounded by nothing else. */
  readonly isAllowed: boolean
  /** Whether it had an Idempotency-Key. */
  readonly isClaimed: boolean
  /** Whether the response is that of an earlier request. */
  readonly isReplay: boolean
  /** Parsed; undefined where there was none, or none that could be parsed. */
  readonly body: unknown
  readonly bodyBytes: number
  /** JSON text. */
  readonly answer: string
  /** The path of what it made. */
  readonly location: string | undefined
}

/** Is told of each answered request. It never throws, and never waits. */
export type KeepRequest = (request: AnsweredRequest) => void
