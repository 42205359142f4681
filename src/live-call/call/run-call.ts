import {
  stopReasonOf,
  type AdmittedCall,
  type PrepareCall,
  type RunCall,
  type DialableCall,
} from '../../domains/calls/lifecycle/hand-over.ts'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { backoffMs } from '../../runtime/backoff.ts'
import type { Clock } from '../../runtime/time.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { CallLeg, Carrier, GatewayTry } from '../../telephony/carrier.ts'
import {
  endingOfConversation,
  endingOfProblem,
  type AttemptEnding,
  type ConversationEnd,
  type TalkFacts,
} from './call-ending.ts'
import { dialPhone } from './dial-phone.ts'
import { createCallNotes, holdNote, oneWayNote } from './call-notes.ts'
import { ConversationWatch } from './watch-conversation.ts'
import type { LiveRegistry } from './live-registry.ts'
import type {
  AnsweredCall,
  CallLedger,
  CallPlan,
  FinishedCall,
  LoadedPlan,
} from './live-call-port.ts'
import { MediaUnavailableError, type MediaCall, type MediaPlane } from '../media/media-port.ts'
import type { RecordingTarget } from '../media/media-protocol.ts'
import { spoolSuffix } from '../recording/spool-format.ts'
import { createTraceRecorder, type TraceRecorder } from './trace-recorder.ts'
import { createTranscriptWriter } from './transcript-writer.ts'

export interface RunCallDependencies {
  readonly carrier: Carrier
  readonly media: MediaPlane
  readonly ledger: CallLedger
  loadPlan(call: AdmittedCall): Promise<LoadedPlan>
  readonly ringTimeoutMs: number
  /** How long a callee may hold the line. */
  readonly maxHoldMs: number
  /** Where those who watch find the conversations of this process. */
  readonly live?: Pick<LiveRegistry, 'enter'>
  /** Where spools are written; it exists. */
  readonly spoolFolder: string
  readonly clock: Clock
  readonly logger: Logger
}

/** Opens the socket and loads the plan of a call whose `dialing` state is not committed yet. Never throws. */
export const createPrepareCall =
  (deps: RunCallDependencies): PrepareCall =>
  (planned) => {
    const logger = deps.logger.child({ call_id: planned.callId })
    const opening = openAttempt({ ...deps, logger }, planned)
    // Whoever runs or releases it meets the error, later than it may come.
    opening.catch(() => undefined)
    return {
      run: async (call, signal) => runAttempt({ ...deps, logger, call, signal }, await opening),
      release: async () => {
        const opened = await opening
        if (opened.kind === 'open') await opened.media.stop()
      },
    }
  }

/** The same for a call whose `dialing` state is committed. */
export const createRunCall = (deps: RunCallDependencies): RunCall => {
  const prepare = createPrepareCall(deps)
  return (call, signal) => prepare(call).run(call, signal)
}

const runAttempt = async (run: Run, opened: OpenedAttempt): Promise<void> => {
  if (opened.kind !== 'open') return conclude(run, opened)
  const { media, plan } = opened
  const { carrier, call, ringTimeoutMs, signal } = run
  const trace = createTraceRecorder({
    save: (kept) => run.ledger.saveTrace(call, kept),
    clock: run.clock,
    logger: run.logger,
  })
  try {
    media.prepare(plan)
    let noted: Promise<void> | undefined
    const onTries = (tries: readonly GatewayTry[]): void => {
      noted = noteTries(run, tries)
    }
    const watch = { onTries, trace }
    const dialed = await dialPhone(carrier, call, plan, media, ringTimeoutMs, signal, watch)
    // Kept before the call ends, so that a call that has ended can be explained.
    const kept = trace.save()
    if (dialed.kind !== 'answered') await Promise.all([noted, kept])
    if (dialed.kind === 'answered') await converse(run, plan, dialed.leg, media, trace)
    else await conclude(run, dialed)
  } finally {
    await Promise.all([media.stop(), trace.close()])
  }
}

/** Only for explanations: a fault is logged, and the call goes on. */
const noteTries = async (
  { ledger, call, logger }: Run,
  tries: readonly GatewayTry[],
): Promise<void> => {
  try {
    await ledger.noteTries?.(call, tries)
  } catch (error) {
    logger.warn({ err: error }, 'the tries of a call could not be stored')
  }
}

interface Run extends RunCallDependencies {
  readonly call: DialableCall
  readonly signal: AbortSignal
}

type OpenedAttempt =
  { readonly kind: 'open'; readonly media: MediaCall; readonly plan: CallPlan } | AttemptEnding

/** A socket and a plan. Nothing was sent yet, so that whatever fails here sends the call back to the queue. */
const openAttempt = async (
  deps: RunCallDependencies,
  call: AdmittedCall,
): Promise<OpenedAttempt> => {
  const [media, loaded] = await Promise.allSettled([
    deps.media.open(call.callId),
    deps.loadPlan(call),
  ])
  if (media.status === 'fulfilled' && loaded.status === 'fulfilled' && 'plan' in loaded.value) {
    return { kind: 'open', media: media.value, plan: loaded.value.plan }
  }
  if (media.status === 'fulfilled') await media.value.stop()
  if (loaded.status === 'fulfilled' && 'problem' in loaded.value) {
    return endingOfProblem(loaded.value.problem)
  }
  const error: unknown = media.status === 'rejected' ? media.reason : failureOf(loaded)
  if (error instanceof MediaUnavailableError) return { kind: 'unsent', reason: error.message }
  deps.logger.error({ err: error }, 'a call could not be prepared')
  return { kind: 'unsent', reason: 'The call could not be prepared.' }
}

const failureOf = (result: PromiseSettledResult<unknown>): unknown =>
  result.status === 'rejected' ? result.reason : undefined

/** Ends an attempt that was not answered. A cancellation that came meanwhile wins over the way back to the queue. */
const conclude = async (run: Run, attempt: AttemptEnding): Promise<void> => {
  if (attempt.kind === 'lost') return run.logger.warn({}, 'a call was given up: its lease is lost')
  if (attempt.kind === 'ended') return finish(run, { ending: attempt.ending })
  if (run.signal.aborted && stopReasonOf(run.signal) === 'cancel_requested') {
    return finish(run, { ending: { status: 'cancelled' } })
  }
  const ending = await persist(run, async () => run.ledger.endOfCongestion?.(run.call, attempt))
  if (ending !== undefined) return finish(run, { ending })
  const isQueued = await persist(run, () => run.ledger.requeue(run.call, attempt))
  run.logger.info({ reason: attempt.reason, is_queued: isQueued }, 'a call went back to the queue')
}

const converse = async (
  run: Run,
  plan: CallPlan,
  leg: CallLeg,
  media: MediaCall,
  trace: TraceRecorder,
): Promise<void> => {
  const { call, clock, ledger, logger, signal } = run
  const connectedAt = clock.now()
  const connectedAtMs = clock.monotonicMs()
  const transcript = createTranscriptWriter((turn) => ledger.appendTurn(call, turn), logger)
  const notes = createCallNotes((note) => ledger.note(call, note), logger)
  const live = run.live?.enter(call, media)
  const conversation = new ConversationWatch({
    leg,
    media,
    maxDurationMs: plan.maxDurationMs,
    maxHoldMs: run.maxHoldMs,
    transferTo: plan.transferTo,
    signal,
    onHold: (isHeld) => notes.add(holdNote(isHeld, run.maxHoldMs)),
    onOneWayAudio: (missing) => {
      logger.warn({ missing }, 'the audio of a call goes one way only')
      notes.add(oneWayNote(missing))
    },
    onTurn: (turn) => {
      transcript.add(turn)
      live?.said(turn)
    },
    onWords: (words) => live?.speaks(words),
    onSound: (g711) => live?.sounds(g711),
  })
  const { isRecorded } = plan
  media.start(leg.media, isRecorded ? recordingTarget(run, connectedAt) : undefined)
  const connected = persist(run, () => ledger.markConnected(call, connectedAt, isRecorded))

  const end = await Promise.race([conversation.ended, lostRace(connected)])
  conversation.release()
  const hungUp = leg.hangUp()
  const report = await media.stop()
  live?.leave()
  const elapsedMs = report.durationMs ?? clock.monotonicMs() - connectedAtMs
  void trace.save()
  const [unsavedTurns] = await Promise.all([transcript.settle(), notes.settle()])
  if (report.framesLost > 0)
    logger.warn(
      { frames_lost: report.framesLost, has_recording: report.recordingPath !== undefined },
      'the disk did not take all audio of a call: see that the data folder has room',
    )
  if (end.kind === 'lost') {
    logger.warn({}, 'an answered call was hung up: another node has ended it')
  } else {
    const facts = factsOf(conversation.facts(), plan, report.reportedOutcome)
    logger.info({ end: end.kind, duration_ms: elapsedMs, rtp: report.rtp }, 'a conversation ended')
    await finish(run, {
      ending: endingOfConversation(end, facts),
      answered: {
        connectedAt,
        durationSeconds: Math.round(elapsedMs / 1000),
        optedOut: facts.optedOut,
        ...(!isRecorded && { isUnrecorded: true }),
        unsavedTurns,
        turnCount: conversation.turnCount(),
        report,
        measured: { engine: plan.engine, timing: conversation.timing() },
        ...hangUpOf(end),
      },
    })
  }
  await Promise.allSettled([hungUp, connected])
}

const recordingTarget = ({ spoolFolder, call }: Run, connectedAt: Date): RecordingTarget => ({
  path: join(spoolFolder, call.callId + spoolSuffix),
  organizationId: call.organizationId,
  startedAt: connectedAt.toISOString(),
})

const hangUpOf = (end: ConversationEnd): Pick<AnsweredCall, 'hangUpReason'> => {
  if (end.kind === 'hang_up') return { hangUpReason: end.reason }
  return end.kind === 'duration_cap' || end.kind === 'held_too_long'
    ? { hangUpReason: end.kind }
    : {}
}

/** The agent's word counts if it was offered; and who is reported to have opted out is treated so. */
const factsOf = (
  facts: TalkFacts,
  plan: CallPlan,
  reportedOutcome: string | undefined,
): TalkFacts => {
  if (reportedOutcome === undefined || !plan.outcomes.includes(reportedOutcome)) return facts
  return { ...facts, reportedOutcome, optedOut: facts.optedOut || reportedOutcome === 'opted_out' }
}

/** Resolves only when somebody else ended the call; a database that is away does not end a conversation. */
const lostRace = async (connected: Promise<boolean>): Promise<{ readonly kind: 'lost' }> => {
  const isOurs = await connected.catch(() => true)
  return isOurs ? new Promise<never>(() => undefined) : { kind: 'lost' }
}

/** Zero rows: another terminal transaction was first, and stands. */
const finish = async (run: Run, finished: FinishedCall): Promise<void> => {
  const isFirst = await persist(run, () => run.ledger.finish(run.call, finished))
  const { status, answerStatus } = finished.ending
  if (isFirst) run.logger.info({ status, answer_status: answerStatus }, 'a call ended')
  else run.logger.warn({ status }, 'a call had already been ended by somebody else')
}

/** How often a write is tried: about 40 seconds, longer than a failover of the database. */
const maxWriteAttempts = 12
const writeDelay = { baseMs: 100, maxMs: 5_000 }

/** Every write is fenced and idempotent, so that one whose answer was lost may be repeated. */
const persist = async <T>(run: Run, write: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await write()
    } catch (error) {
      if (attempt === maxWriteAttempts) throw error
      run.logger.warn({ err: error, attempt }, 'the state of a live call could not be stored yet')
      await delay(backoffMs(attempt, writeDelay))
    }
  }
}
