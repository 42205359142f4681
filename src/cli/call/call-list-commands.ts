import { Option, type Command } from 'commander'
import { endCall } from '../../compose/call-end.ts'
import { callStatuses, type CallStatus } from '../../contract/states.ts'
import type { Database } from '../../database/database.ts'
import { isTerminal } from '../../domains/calls/lifecycle/call-states.ts'
import { cancelCallById } from '../../domains/calls/cancel-call.ts'
import { listCallParties } from '../../domains/calls/call-parties.ts'
import { callResource, type CallRow } from '../../domains/calls/call-record.ts'
import { waitReasonsOf } from '../../domains/calls/explain-store.ts'
import { findCall, listApiCalls, listOwnCalls } from '../../domains/calls/call-store.ts'
import { OperatorError } from '../../domains/organizations/operator-error.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { isUuid } from '../../runtime/ids.ts'
import { programPath } from '../../runtime/program-path.ts'
import type { CliContext } from '../cli-context.ts'
import { styledStatus } from './describe-call.ts'
import { readPages, showList, withListOptions, type ListOptions } from '../list-options.ts'
import { show, type OutputOptions } from '../terminal/output.ts'
import {
  requireOrganization,
  requireOwner,
  withOrganization,
  type OrganizationOption,
} from '../require-organization.ts'

interface CallListOptions extends ListOptions {
  readonly status?: CallStatus
  readonly contact?: string
  readonly agent?: string
  readonly batch?: string
}

/** `outdial call list|cancel`: calls of any origin. */
export const addCallListCommands = (call: Command, context: CliContext): void => {
  withListOptions(call.command('list').description('calls, newest first, however they were made'))
    .addOption(new Option('--status <status>', 'only those in this state').choices(callStatuses))
    .option('--contact <contact>', 'only those to this contact')
    .option('--agent <agent>', 'only those of this agent')
    .option('--batch <batch>', 'only those of this batch')
    .action(async (options: CallListOptions) => {
      const { rows, waiting, parties } = await context.withDatabase(async (db) => {
        const { id } = await requireOrganization(db, options.org)
        const found = await listCalls(db, id, options)
        const queued = found.filter((row) => row.status === 'queued').map((row) => row.id)
        const waiting = await waitReasonsOf(db, id, queued)
        const ids = found.map((row) => row.id)
        return { rows: found, waiting, parties: await listCallParties(db, id, ids) }
      })
      showList(context, options, {
        resources: rows.map((row) => ({ ...callResource(row), ...parties.get(row.id) })),
        heading: [
          'ID',
          'NUMBER',
          'NAME',
          'AGENT',
          'STATUS',
          'QUEUED',
          'LASTED',
          'OUTCOME',
          'REASON',
        ],
        rows: rows.map((row) => [
          row.id,
          parties.get(row.id)?.phone_number ?? '',
          parties.get(row.id)?.contact_name ?? '',
          parties.get(row.id)?.agent_name ?? '',
          styledStatus(row),
          row.queued_at.toISOString(),
          row.duration_seconds === null ? '' : `${row.duration_seconds} s`,
          row.outcome ?? '',
          row.outcome_reason ?? waiting.get(row.id) ?? '',
        ]),
        whenEmpty: `No call to list: ${programPath()} dial --agent AGENT NUMBER makes one.`,
      })
    })
  withOrganization(
    call
      .command('cancel')
      .description('take a waiting call out of the queue, or hang up a live one')
      .argument('<id>'),
    'call',
  )
    .option('--json', 'print JSON')
    .action(async (id: string, options: OutputOptions & OrganizationOption) => {
      const row = await context.withDatabase((db) => cancel(db, options, id))
      show(context, options, callResource(row), () => sentenceOf(row))
    })
}

/** Two indexes hold the API's calls and the others: the newest of both. */
const listCalls = async (
  db: Database,
  organizationId: OrganizationId,
  { limit, status, contact, agent, batch }: CallListOptions,
): Promise<CallRow[]> => {
  if (![contact, agent, batch].every((id) => id === undefined || isUuid(id))) return []
  const filters = { status, contact_id: contact, agent_id: agent, batch_id: batch }
  const lists = await Promise.all(
    [listApiCalls, listOwnCalls].map((list) =>
      readPages(limit, (size, cursor: Parameters<typeof list>[1]['cursor']) =>
        list(db, { organizationId, limit: size, cursor, filters }),
      ),
    ),
  )
  return lists.flat().toSorted(newestFirst).slice(0, limit)
}

const newestFirst = (a: CallRow, b: CallRow): number =>
  b.created_at.getTime() - a.created_at.getTime() || (a.id < b.id ? 1 : -1)

const cancel = async (db: Database, options: OrganizationOption, id: string): Promise<CallRow> => {
  const organizationId = await requireOwner(db, options, 'call', id)
  const known = isUuid(id) ? await findCall(db, organizationId, id) : undefined
  if (!known) throw new OperatorError(`The organization has no call ${id}.`)
  await db.transaction((tx) => cancelCallById(tx, endCall, organizationId, id, undefined))
  return (await findCall(db, organizationId, id)) ?? known
}

const sentenceOf = ({ id, status, cancel_requested_at: requestedAt }: CallRow): string => {
  if (status === 'cancelled') return `Call ${id} is cancelled.`
  if (isTerminal(status)) return `Call ${id} has ended already: ${status}.`
  return requestedAt === null
    ? `Call ${id} waits for its batch to start: cancel the batch.`
    : `Call ${id} is being hung up.`
}
