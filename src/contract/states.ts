/** States visible to clients, one list each (contract, "Resources and their fields"; D7). */
export const callStatuses = [
  'queued',
  'dialing',
  'in_progress',
  'completed',
  'failed',
  'cancelled',
] as const

export type CallStatus = (typeof callStatuses)[number]

export const answerStatuses = ['answered', 'no_answer', 'busy', 'voicemail', 'unknown'] as const

export type AnswerStatus = (typeof answerStatuses)[number]

export const batchStatuses = [
  'draft',
  'scheduled',
  'queued',
  'in_progress',
  'paused',
  'completed',
  'failed',
  'cancelled',
] as const

export type BatchStatus = (typeof batchStatuses)[number]

/** Outcomes of every agent; an agent may configure its own slugs (D3). */
export const normalizedOutcomes = [
  'achieved',
  'not_achieved',
  'callback_requested',
  'opted_out',
  'wrong_number',
  'transferred',
  'voicemail_left',
  'voicemail_skipped',
  'not_reached',
  'inconclusive',
] as const

const resultStatuses = ['processing', 'ready', 'unavailable', 'exhausted'] as const

export type ResultStatus = (typeof resultStatuses)[number]

/** Why a result is missing, by its status (D7). */
export const resultReasons = {
  processing: ['call_not_ended', 'awaiting_transcript', 'generating'],
  unavailable: [
    'call_not_answered',
    'call_cancelled',
    'call_failed',
    'no_speech',
    'not_enabled',
    'retention_expired',
  ],
  exhausted: ['provider_error', 'provider_timeout', 'content_rejected'],
} as const

export const speakers = ['agent', 'contact', 'third_party'] as const

export type TurnSpeaker = (typeof speakers)[number]
