import type { Command } from 'commander'
import { reprocessCall } from '../../operator/reprocess-call.ts'
import type { Database } from '../../database/database.ts'
import { callResource } from '../../domains/calls/call-record.ts'
import { listCallParties } from '../../domains/calls/call-parties.ts'
import { findCall } from '../../domains/calls/call-store.ts'
import { explainCall } from '../../domains/calls/explain-call.ts'
import { OperatorError } from '../../domains/organizations/operator-error.ts'
import { findRecordingDetails } from '../../domains/recordings/recording-details.ts'
import { listResultHeads } from '../../domains/results/result-heads.ts'
import { listQuality } from '../../domains/results/quality-store.ts'
import { listTurnLatencies, listUsage } from '../../domains/results/usage-store.ts'
import { listTurns, type StoredTurn } from '../../domains/results/transcript-store.ts'
import { addCallListCommands } from './call-list-commands.ts'
import type { CliContext } from '../cli-context.ts'
import { describeCall, describeExplanation, type ShownCall } from './describe-call.ts'
import { addTraceCommand } from './trace-command.ts'
import { show, type OutputOptions } from '../terminal/output.ts'
import { requireOwner, withOrganization, type OrganizationOption } from '../require-organization.ts'

/** `outdial call list|cancel|show|explain|trace|reprocess`: calls of any origin. */
export const addCallCommands = (program: Command, context: CliContext): void => {
  const call = program.command('call').description('calls, however they were made')
  addCallListCommands(call, context)
  addTraceCommand(call, context)
  withOrganization(
    call
      .command('show')
      .description('a call with its words, results and recording')
      .argument('<id>'),
    'call',
  )
    .option('--json', 'print JSON')
    .action(async (id: string, options: OutputOptions & OrganizationOption) => {
      const shown = await context.withDatabase((db) => loadCall(db, options, id))
      show(context, options, shown, (width) => describeCall(shown, width))
    })
  withOrganization(
    call
      .command('explain')
      .description('why a call waits, or what was decided about it')
      .argument('<id>'),
    'call',
  )
    .option('--json', 'print JSON')
    .action(async (id: string, options: OutputOptions & OrganizationOption) => {
      const explanation = await context.withDatabase(async (db) => {
        const found = await explainCall(db, await requireOwner(db, options, 'call', id), id)
        return found ?? refuse(id)
      })
      show(context, options, explanation, (width) => describeExplanation(explanation, width))
    })
  withOrganization(
    call
      .command('reprocess')
      .description('try again to summarise a call whose attempts are used up')
      .argument('<id>'),
    'call',
  )
    .option('--json', 'print JSON')
    .action(async (id: string, options: OutputOptions & OrganizationOption) => {
      const results = await context.withDatabase(async (db) => {
        const key = { organizationId: await requireOwner(db, options, 'call', id), callId: id }
        await reprocessCall(db, key)
        return listResultHeads(db, key)
      })
      show(context, options, { id, results }, () => `Call ${id} is being summarised again.`)
    })
}

const refuse = (id: string): never => {
  throw new OperatorError(`There is no call ${id}.`)
}

/** The unsanitized words: for the operator only. */
const loadCall = async (
  db: Database,
  options: OrganizationOption,
  callId: string,
): Promise<ShownCall> => {
  const organizationId = await requireOwner(db, options, 'call', callId)
  const key = { organizationId, callId }
  const [row, parties, explanation, results, recording, turns, usage, latencies, quality] =
    await Promise.all([
      findCall(db, organizationId, callId),
      listCallParties(db, organizationId, [callId]),
      explainCall(db, organizationId, callId),
      listResultHeads(db, key),
      findRecordingDetails(db, key),
      listTurns(db, key),
      listUsage(db, key),
      listTurnLatencies(db, key),
      listQuality(db, key),
    ])
  if (!row) return refuse(callId)
  return {
    ...callResource(row),
    organization_id: organizationId,
    origin: row.origin,
    ...parties.get(callId),
    reasons: explanation?.reasons ?? [],
    results,
    ...(recording && { recording }),
    turns: turns.map(turnOf),
    usage,
    latencies,
    quality,
  }
}

const turnOf = ({ sequence, speaker, text, audioOffsetMs }: StoredTurn) => ({
  sequence,
  speaker,
  text,
  audio_offset_ms: audioOffsetMs,
})
