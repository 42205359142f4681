import { resultReasons, type ResultStatus } from '../../contract/states.ts'

export type ResultKind = 'summary' | 'transcript'

type ProcessingReason = (typeof resultReasons.processing)[number]
export type UnavailableReason = (typeof resultReasons.unavailable)[number]
export type ExhaustedReason = (typeof resultReasons.exhausted)[number]

/** The state of a result: the four variants of D7. */
export type ResultState =
  | { readonly status: 'processing'; readonly reason: ProcessingReason }
  | { readonly status: 'ready'; readonly reason: null }
  | { readonly status: 'unavailable'; readonly reason: UnavailableReason }
  | { readonly status: 'exhausted'; readonly reason: ExhaustedReason }

/**
 * The states that may follow each state. `ready → ready` is a newer revision, `ready → unavailable` and `exhausted
 * → unavailable` the end of retention, `exhausted → processing` an operator's re-run (D7).
 */
export const resultTransitions = {
  processing: ['processing', 'ready', 'unavailable', 'exhausted'],
  ready: ['ready', 'unavailable'],
  unavailable: [],
  exhausted: ['processing', 'unavailable'],
} as const satisfies Record<ResultStatus, readonly ResultStatus[]>

/** The states from which `to` may be entered, for `update … where status = any($n)`. */
export const resultStatesBefore = (to: ResultStatus): ResultStatus[] =>
  (Object.keys(resultTransitions) as ResultStatus[]).filter((from) =>
    (resultTransitions[from] as readonly ResultStatus[]).includes(to),
  )

/** When to poll again, by what is awaited: a call takes minutes, a summary seconds. */
export const pollAfterSeconds: Readonly<Record<ProcessingReason, number>> = {
  call_not_ended: 5,
  awaiting_transcript: 2,
  generating: 2,
}
