import { notFound } from '../../contract/api-error.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import { cancelRun as cancel } from '../../domains/automations/cancel-automation-run.ts'
import { readDefinition } from '../../domains/automations/definition.ts'
import { explainRun } from '../../domains/automations/explain-run.ts'
import { getAutomationRunExplanation } from '../../domains/automations/get-automation-run-explanation.ts'
import { listAutomationRuns } from '../../domains/automations/list-automation-runs.ts'
import { queueRun, runsChannel } from '../../domains/automations/queue-run.ts'
import {
  findRunPlace,
  listNewestRunMoves,
  listRunPlaces,
  maxShownMoves,
} from '../../domains/automations/run-position-store.ts'
import { runResource } from '../../domains/automations/run-resource.ts'
import { findRun, type RunMove } from '../../domains/automations/run-store.ts'
import { whatComesNext } from '../../domains/automations/what-comes-next.ts'
import { note, type ConsoleHandler } from '../console-handler.ts'

export const getRunExplanation: ConsoleHandler<'getRunExplanation'> = getAutomationRunExplanation

export const listRuns: ConsoleHandler<'listRuns'> = async (input, context) => {
  const { data, next } = await listAutomationRuns(input, context)
  const ids = data.map(({ id }) => id)
  const places = await listRunPlaces(context.db, context.organizationId, ids)
  return {
    data: data.map((run) => {
      const place = places.get(run.id)
      return {
        ...run,
        ...(place && { automation_name: place.automation_name }),
        ...(place?.contact_name != null && { contact_name: place.contact_name }),
        ...(place?.step != null && { step: place.step }),
        ...(place?.due_at && { due_at: formatDateTime(place.due_at) }),
      }
    }),
    next,
  }
}

/** A run of any origin. */
export const getRun: ConsoleHandler<'getRun'> = async (
  { params },
  { db, organizationId, parts },
) => {
  const row = await findRun(db, organizationId, params.run_id)
  const place = row && (await findRunPlace(db, organizationId, row.id))
  const explanation = row && (await explainRun(db, organizationId, row.id))
  if (!row || !place || !explanation) throw notFound()
  parts.showToFollowers(organizationId, 'run', row.id)
  const moves = await listNewestRunMoves(db, organizationId, row.id)
  const next = whatComesNext(row.status, readDefinition(place.definition), place)
  const { call } = explanation
  return {
    ...runResource(row),
    origin: place.origin,
    automation_name: place.automation_name,
    automation_version: place.automation_version,
    definition: { ...Object(place.definition) },
    ...(place.contact_name !== null && { contact_name: place.contact_name }),
    ...(place.phone_number !== null && { phone_number: place.phone_number }),
    ...(place.step !== null && { step: place.step }),
    attempt: place.attempt,
    steps_executed: place.steps_executed,
    ...(place.cancel_requested_at && {
      cancel_requested_at: formatDateTime(place.cancel_requested_at),
    }),
    ...(call && { call: { id: call.id, status: call.status } }),
    ...(next && {
      next: {
        message: next.message,
        steps: [...next.steps],
        ...(next.at && { at: formatDateTime(next.at) }),
      },
    }),
    reasons: [...explanation.reasons],
    moves: moves.map(shownMove),
    moves_truncated: moves.length === maxShownMoves && moves.at(-1)?.sequence !== 1,
  }
}

const shownMove = (move: RunMove) => ({
  sequence: move.sequence,
  at: formatDateTime(move.at),
  ...(move.step !== null && { step: move.step }),
  move: move.move,
  ...(move.attempt !== null && { attempt: move.attempt }),
  ...(move.call_id !== null && { call_id: move.call_id }),
  ...(move.until && { until: formatDateTime(move.until) }),
  reason: move.reason,
})

export const startRun: ConsoleHandler<'startRun'> = async ({ body }, context) => {
  const { db, organizationId } = context
  const row = await queueRun(db, organizationId, {
    automationId: body.automation_id,
    contactId: body.contact_id,
    origin: 'dashboard',
  })
  db.hintAfterCommit(runsChannel)
  await note(db, context, {
    action: 'run.start',
    target: { type: 'run', id: row.id },
    after: { automation_id: row.automation_id, contact_id: row.contact_id },
  })
  return runResource(row)
}

export const cancelRun: ConsoleHandler<'cancelRun'> = async ({ params }, context) => {
  const { db, organizationId, parts } = context
  const before = await findRun(db, organizationId, params.run_id)
  if (!before) throw notFound()
  const row = await cancel(db, parts.endCall, organizationId, before.id)
  // A run that has ended stays as it is.
  if (before.completed_at === null && before.cancelled_at === null)
    await note(db, context, {
      action: 'run.cancel',
      target: { type: 'run', id: row.id },
      before: { status: before.status },
      after: { status: row.status },
    })
  return runResource(row)
}
