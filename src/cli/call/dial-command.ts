import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import { explainCall } from '../../domains/calls/explain-call.ts'
import type { Database } from '../../database/database.ts'
import type { CallRow } from '../../domains/calls/call-record.ts'
import { isTerminal } from '../../domains/calls/lifecycle/call-states.ts'
import { findCall } from '../../domains/calls/call-store.ts'
import { placeManualCall } from '../../domains/calls/place-manual-call.ts'
import { checkPhoneNumber } from '../../domains/organizations/do-not-call.ts'
import { listTurnsAfter } from '../../domains/results/transcript-store.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { systemTime } from '../../runtime/time.ts'
import { programPath } from '../../runtime/program-path.ts'
import type { CliContext } from '../cli-context.ts'
import { whileInterruptible } from '../terminal/interrupted.ts'
import { describeReasons } from './describe-call.ts'
import { hanging, show, tell, warn, type Lines, type OutputOptions } from '../terminal/output.ts'
import { requireOwner, withOrganization, type OrganizationOption } from '../require-organization.ts'

interface DialOptions extends OutputOptions, OrganizationOption {
  readonly agent: string
  readonly follow?: true
}

/** `outdial dial NUMBER`: a manual call, which the API does not list. */
export const addDialCommand = (program: Command, context: CliContext): void => {
  withOrganization(
    program
      .command('dial')
      .description('call a number now')
      .argument('<number>', 'E.164, such as +12025550100'),
    'agent',
  )
    .requiredOption('--agent <agent>', 'agent id')
    .option('--follow', 'show state and words as they come, until the end')
    .option('--json', 'print JSON')
    .action(async (number: string, options: DialOptions) => {
      const phoneNumber = checkPhoneNumber(number)
      await context.withDatabase(async (db) => {
        const organizationId = await requireOwner(db, options, 'agent', options.agent)
        const accepted = await db.transaction((tx) =>
          placeManualCall(tx, organizationId, { agentId: options.agent, phoneNumber }),
        )
        const print = (told: string | Lines): void => {
          if (!options.json) tell(context, told)
        }
        print(`Call ${accepted.id} is ${accepted.status}.`)
        // Standard output is only for the document, but its reader must still learn why nothing happens.
        const explain = (told: string): void => (options.json ? warn : tell)(context, told)
        const call = options.follow
          ? await whileInterruptible(context, goesOn(organizationId, accepted.id), () =>
              follow(db, organizationId, accepted, {
                print,
                explain,
                width: () => context.terminalWidth,
              }),
            )
          : accepted
        if (options.json) show(context, options, summaryOf(call), () => '')
      })
    })
}

const goesOn = (organizationId: OrganizationId, callId: string): Lines => [
  'The call goes on by itself, whatever becomes of this command:',
  `  ${programPath()} call show ${callId}`,
  `  ${programPath()} call cancel ${callId} --org ${organizationId}`,
]

const summaryOf = (call: CallRow) => ({
  id: call.id,
  status: call.status,
  ...(call.answer_status !== null && { answer_status: call.answer_status }),
  ...(call.duration_seconds !== null && { duration_seconds: call.duration_seconds }),
})

const pollEveryMs = 200
/** A call that is dialled at once needs no explanation. */
const explainAfterMs = 2_000
/** Every call ends within ring, cap (at most 60 minutes) and a minute; a queued call is reported as waiting. */
const maxLiveMs = 65 * 60_000

interface FollowOutput {
  readonly print: (told: string | Lines) => void
  readonly explain: (told: string) => void
  readonly width: () => number | undefined
}

/** Prints each new state and turn, and once why the call waits; resolves with the ended call. */
const follow = async (
  db: Database,
  organizationId: OrganizationId,
  accepted: CallRow,
  { print, explain, width }: FollowOutput,
): Promise<CallRow> => {
  let { status } = accepted
  let lastSequence = -1
  let isExplained = false
  const startedMs = systemTime.monotonicMs()
  let liveSinceMs = startedMs
  for (;;) {
    const call = (await findCall(db, organizationId, accepted.id)) ?? accepted
    const turns = await listTurnsAfter(db, organizationId, accepted.id, lastSequence)
    for (const turn of turns) {
      const label = `${clockOf(turn.audioOffsetMs)}  ${turn.speaker.padEnd(7)}  `
      print(hanging(label, turn.text, width()))
      lastSequence = turn.sequence
    }
    if (call.status !== status) {
      status = call.status
      print(describe(call))
    }
    if (isTerminal(call.status)) return call
    const nowMs = systemTime.monotonicMs()
    if (call.status === 'queued') liveSinceMs = nowMs
    if (call.status === 'queued' && !isExplained && nowMs - startedMs > explainAfterMs) {
      const reasons = (await explainCall(db, organizationId, call.id))?.reasons ?? []
      for (const line of describeReasons(reasons)) explain(line)
      isExplained = reasons.length > 0
    }
    if (nowMs - liveSinceMs > maxLiveMs)
      throw new Error(`Call ${call.id} did not end in time; is \`${programPath()} start\` running?`)
    await delay(pollEveryMs)
  }
}

const describe = (call: CallRow): string => {
  const result = [call.answer_status, call.outcome, call.outcome_reason].filter(Boolean).join(', ')
  const lasted = call.duration_seconds === null ? '' : `, ${call.duration_seconds} s`
  return `— ${call.status}${result === '' ? '' : `: ${result}`}${lasted}`
}

const clockOf = (offsetMs: number): string => {
  const seconds = Math.floor(offsetMs / 1000)
  return `${String(Math.floor(seconds / 60)).padStart(2, ' ')}:${String(seconds % 60).padStart(2, '0')}`
}
