import type { AnswerOf } from '../client/table.ts'

const finalStatuses = new Set<string>(['completed', 'failed', 'cancelled'])

export const isEnded = ({ status }: { status: string }): boolean => finalStatuses.has(status)

/** Whether nothing of the call changes by itself any more. */
export const isSettled = (call: AnswerOf<'getCall'>): boolean =>
  isEnded(call) &&
  call.recording?.status !== 'encoding' &&
  call.results.every(({ status }) => status !== 'processing')
