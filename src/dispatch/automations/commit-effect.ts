import { isDeepStrictEqual } from 'node:util'
import type { Database, Transaction } from '../../database/database.ts'
import { holdStatus } from '../../domains/automations/automation-store.ts'
import type { EndCall } from '../../domains/calls/lifecycle/end-call.ts'
import { insertCall } from '../../domains/calls/lifecycle/insert-call.ts'
import { zonesOfNumber } from '../../numbering/zones-of-number.ts'
import { cancelQueued } from '../../domains/calls/lifecycle/cancel-queued-call.ts'
import { ensureLane, laneId, type Lane } from '../../domains/calls/lane-store.ts'
import { callsChannel } from '../../domains/calls/queue-call.ts'
import { newId } from '../../runtime/ids.ts'
import { holdPolicy, storeEnd, storeLook, storeMove, type StoredMove } from './commit-store.ts'
import type { Effect } from '../../domains/automations/stepping/effect.ts'
import type { LoadedRun } from './load-run.ts'
import { stateAfter } from '../../domains/automations/stepping/state-after.ts'

/**
 * Another transaction moved, woke, paused or ended the run since it was loaded; nothing of this move is committed.
 */
export class RunSupersededError extends Error {
  override readonly name = 'RunSupersededError'
}

export interface CommitOptions {
  readonly database: Database
  readonly endCall: EndCall
  /** After a move, how long no other runner takes the run. */
  readonly leaseMs: number
}

/** One effect, and the run's state before it. */
export interface Move {
  readonly run: LoadedRun
  readonly effect: Effect
}

/**
 * Carries out an effect and moves the run on, after the moves that lead to it, in ONE transaction keyed by (run, sequence):
 * a crash at any point repeats nothing and skips nothing. Throws `RunSupersededError` when the run is no longer where it
 * was loaded. Before a move that touches more than the run there may be no other.
 *
 * Locks are taken in the order automations, organization, lanes, calls, runs (migrations/0005-automations.sql).
 */
export const commitMoves = (options: CommitOptions, moves: readonly Move[]): Promise<void> =>
  options.database.transaction(async (tx) => {
    // Pipelined, and their results arrive together.
    const stored = moves.map(({ run, effect }) => carryOut(tx, run, effect, options))
    if (moves.some(({ effect }) => effect.kind === 'call')) tx.hintAfterCommit(callsChannel)
    if ((await Promise.all(stored)).includes(false))
      throw new RunSupersededError('the run has moved on')
  })

/** Whether it changes only the run, so that it may commit together with the moves before it. */
export const isOfRunAlone = (effect: Effect): boolean => {
  switch (effect.kind) {
    case 'start':
    case 'move':
    case 'sleep':
    case 'complete':
      return true
    case 'fail':
    case 'cancel':
      return !effect.cancelsCall
    case 'call':
    case 'hold':
    case 'watch':
      return false
  }
}

const carryOut = async (
  tx: Transaction,
  run: LoadedRun,
  effect: Effect,
  { endCall, leaseMs }: CommitOptions,
): Promise<boolean> => {
  const { nowMs } = run.facts
  const now = new Date(nowMs)
  const moved = (parts: Partial<StoredMove>): Promise<boolean> =>
    storeMove(tx, run, { ...plainMove(run, effect), ...parts })
  switch (effect.kind) {
    case 'start':
    case 'move':
      // No other runner takes it while this one goes on; if this one dies, another does when the lease expires.
      return moved({ callId: null, wakeAt: new Date(nowMs + leaseMs) })
    case 'call':
      return moved({
        callId: await queueCallOfRun(tx, run, effect.step.agent_id),
        attempt: effect.attempt,
        wakeAt: new Date(effect.lookMs),
      })
    case 'sleep':
      return moved({
        callId: null,
        waitReason: effect.because,
        wakeAt: new Date(effect.lookMs),
        until: new Date(effect.dueMs),
      })
    case 'hold':
      await (effect.because === 'paused' ? stillPaused(tx, run) : stillSamePolicy(tx, run))
      return moved({
        waitReason: effect.because,
        wakeAt: effect.lookMs === null ? null : new Date(effect.lookMs),
        until:
          effect.because === 'paused' || effect.lookMs === null ? null : new Date(effect.lookMs),
      })
    case 'watch':
      return storeLook(tx, run, {
        status: stateAfter(run.state, effect, nowMs).status,
        waitReason: null,
        wakeAt: new Date(effect.lookMs),
        now,
      })
    case 'complete':
    case 'fail':
    case 'cancel':
      return end(tx, run, effect, endCall)
  }
}

const plainMove = (run: LoadedRun, effect: Effect): StoredMove => ({
  state: stateAfter(run.state, effect, run.facts.nowMs),
  callId: run.callId,
  waitReason: null,
  wakeAt: null,
  move: effect.kind === 'hold' || effect.kind === 'sleep' ? effect.because : effect.kind,
  attempt: null,
  reason: effect.reason,
  until: null,
  now: new Date(run.facts.nowMs),
})

/**
 * The Automation's status is locked until this commits, so that a pause sees the call and its lane, or comes first.
 */
const queueCallOfRun = async (
  tx: Transaction,
  run: LoadedRun,
  agentId: string,
): Promise<string> => {
  const { organizationId, automationId, phoneNumber, agent } = run
  if (phoneNumber === undefined || agent === undefined)
    throw new Error('a call was to be queued without a number or an agent')
  if ((await holdStatus(tx, organizationId, automationId)) !== 'active')
    throw new RunSupersededError('the Automation is no longer active')
  const lane: Lane = {
    organizationId,
    kind: 'automation',
    sourceId: automationId,
    timeZones: zonesOfNumber(phoneNumber),
  }
  await ensureLane(tx, lane)
  const call = await insertCall(tx, organizationId, {
    id: newId(),
    origin: run.origin,
    contactId: run.contactId,
    agentId,
    agentVersion: agent.version,
    phoneNumber,
    laneId: laneId(lane),
    automationRunId: run.runId,
  })
  return call.id
}

/** An earlier resume would not wake a run that goes to sleep after it. */
const stillPaused = async (tx: Transaction, run: LoadedRun): Promise<void> => {
  const status = await holdStatus(tx, run.organizationId, run.automationId)
  if (status === 'active') throw new RunSupersededError('the Automation was resumed')
}

/** Likewise an edit of the policy: it wakes only runs that already wait for hours. */
const stillSamePolicy = async (tx: Transaction, run: LoadedRun): Promise<void> => {
  const policy = await holdPolicy(tx, run.organizationId)
  if (!isDeepStrictEqual(policy, run.policy)) throw new RunSupersededError('the policy was edited')
}

type EndEffect = Extract<Effect, { kind: 'complete' | 'fail' | 'cancel' }>

const endStatuses = { complete: 'completed', fail: 'failed', cancel: 'cancelled' } as const

const end = async (
  tx: Transaction,
  run: LoadedRun,
  effect: EndEffect,
  endCall: EndCall,
): Promise<boolean> => {
  if (effect.kind !== 'complete' && effect.cancelsCall && run.callId !== null) {
    const [ended] = await endCall(tx, cancelQueued(run.organizationId, run.callId, effect.reason))
    // Dialled, or ended, since the run was loaded.
    if (!ended) throw new RunSupersededError('its call is no longer queued')
  }
  return storeEnd(tx, run, {
    status: endStatuses[effect.kind],
    failureCode: effect.kind === 'fail' ? effect.code : null,
    move: effect.kind,
    reason: effect.reason,
    now: new Date(run.facts.nowMs),
  })
}
