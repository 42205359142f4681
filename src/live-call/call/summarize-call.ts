import { sanitize, sanitizer } from '../../call-text/sanitize.ts'
import type {
  OutcomeChoice,
  Summary,
  SummaryInput,
  SummaryUsage,
} from '../../call-text/summarize.ts'
import type { Summarizer } from '../../call-text/create-summarizer.ts'
import type { Database } from '../../database/database.ts'
import { recordSummary } from '../../domains/calls/record-summary.ts'
import { findCall } from '../../domains/calls/call-store.ts'
import { publishSummary, publishTranscript } from '../../domains/results/publish-result.ts'
import type { ExhaustedReason } from '../../domains/results/result-states.ts'
import { costOf, type PriceTable } from '../../domains/results/price-table.ts'
import { addModelCost } from '../../domains/results/count-usage.ts'
import { insertUsage, type CallUsage } from '../../domains/results/usage-store.ts'
import { markResultExhausted } from '../../domains/results/settle-result.ts'
import { listTurns, type CallKey } from '../../domains/results/transcript-store.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { CallJob } from './follow-up-jobs.ts'

/** Reads a conversation: the extractive one of src/conversation, or a model. May throw; the job queue tries again. */
interface SummarizeCallDependencies {
  readonly database: Database
  readonly summarize: Summarizer
  /** The outcomes of the call's agent beyond the usual ones. */
  outcomesOf?(call: CallKey): Promise<readonly OutcomeChoice[]>
  readonly prices?: PriceTable
  readonly logger: Logger
}

interface JobAttempt {
  /** Whether a failure now is the last one. */
  readonly isLast: boolean
  readonly signal: AbortSignal
}

/**
 * The job after a conversation: the transcript's revision first, which needs no model; then summary, outcome and reason.
 * Repeatable: the same turns give the same revisions.
 */
export const createSummarizeCall =
  (deps: SummarizeCallDependencies) =>
  async (job: CallJob, attempt: JobAttempt): Promise<void> => {
    const call: CallKey = { organizationId: job.organization_id, callId: job.call_id }
    await deps.database.transaction((tx) => publishTranscript(tx, call, sanitizer))
    const [read, outcomeChoices = []] = await Promise.all([
      readConversation(deps.database, call, job),
      deps.outcomesOf?.(call),
    ])
    if (read.turns.length === 0) return
    const input = { ...read, outcomeChoices }
    try {
      await publish(deps, call, await deps.summarize(input, attempt.signal))
    } catch (error) {
      if (attempt.signal.aborted) throw error
      const reason = exhaustedReason(error)
      // A provider that refuses to read this conversation will refuse it again.
      if (!attempt.isLast && reason !== 'content_rejected') throw error
      deps.logger.error({ err: error, call_id: call.callId }, 'a call could not be summarised')
      await markResultExhausted(deps.database, call, 'summary', reason)
    }
  }

const exhaustedReason = (error: unknown): ExhaustedReason => {
  const name = error instanceof Error ? error.name : ''
  if (name === 'ContentRejectedError') return 'content_rejected'
  return name === 'TimeoutError' ? 'provider_timeout' : 'provider_error'
}

/** Sanitized: no model sees what clients may not. What was certain when the call ended is in its outcome. */
const readConversation = async (
  database: Database,
  call: CallKey,
  job: CallJob,
): Promise<SummaryInput> => {
  const [row, turns] = await Promise.all([
    findCall(database, call.organizationId, call.callId),
    listTurns(database, call),
  ])
  const outcome = row?.outcome ?? undefined
  return {
    turns: turns
      .map(({ speaker, text }) => ({ speaker, text: sanitize(text) }))
      .filter(({ text }) => text !== ''),
    optedOut: outcome === 'opted_out',
    voicemail: voicemailOf(outcome),
    ...(job.hang_up_reason !== undefined && { hangUpReason: job.hang_up_reason }),
    ...(outcome !== undefined && { reportedOutcome: outcome }),
    configuredOutcomes: outcome === undefined ? [] : [outcome],
  }
}

const voicemailOf = (outcome: string | undefined): SummaryInput['voicemail'] => {
  if (outcome === 'voicemail_left') return 'message_left'
  return outcome === 'voicemail_skipped' ? 'skipped' : 'none'
}

const publish = (
  { database, prices }: SummarizeCallDependencies,
  call: CallKey,
  found: Summary,
): Promise<void> =>
  database.transaction(async (tx) => {
    if (found.usage !== undefined) {
      const usage = usageOf(found.usage, prices)
      await insertUsage(tx, call, usage)
      if (usage.costMicrousd !== undefined) await addModelCost(tx, call, usage.costMicrousd)
    }
    const publication = await publishSummary(tx, call, found.summary, sanitizer)
    // Past its retention, or erased, while it was being written: then nothing of it may be stored anywhere.
    if (publication === 'closed') return
    await recordSummary(tx, call.organizationId, call.callId, {
      ...found,
      summary: sanitize(found.summary),
      outcomeReason: sanitize(found.outcomeReason),
    })
  })

const usageOf = (
  { provider, model, inputTokens, outputTokens }: SummaryUsage,
  prices: PriceTable | undefined,
): CallUsage => {
  const used = { inputTokens, outputTokens, audioInMs: 0, audioOutMs: 0 }
  return {
    ...used,
    purpose: 'summary',
    engine: 'chat',
    provider,
    model,
    costMicrousd: costOf(prices?.[model ?? 'chat'], used),
    firstWordsMs: undefined,
  }
}
