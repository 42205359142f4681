import type { AutomationStatus } from '../../contract/automations.ts'
import type { AnswerStatus, CallStatus } from '../../contract/states.ts'
import { sql, type Queryable } from '../../database/database.ts'
import { findAgent } from '../../domains/agents/agent-store.ts'
import { eligibleAgent, type EligibleAgent } from '../../domains/agents/eligible-agent.ts'
import {
  branchableFields,
  type AutomationDefinition,
  type BranchableField,
} from '../../domains/automations/definition.ts'
import { activeFragment } from '../../domains/automations/run-fragments.ts'
import type { ActiveRunStatus } from '../../domains/automations/run-states.ts'
import type { CallOrigin } from '../../domains/calls/lifecycle/call-states.ts'
import { policyOfJson, type CallingPolicyJson } from '../../domains/organizations/calling-policy.ts'
import { contactFacts } from '../../domains/automations/stepping/contact-facts.ts'
import type { ClaimedRun } from './claim-runs.ts'
import type { DefinitionCache } from './definition-cache.ts'
import type {
  CallFacts,
  ContactFacts,
  Phase,
  RunFacts,
  RunState,
} from '../../domains/automations/stepping/run-facts.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** A run's state, and everything its next move depends on, read at one moment. */
export interface LoadedRun extends ClaimedRun {
  readonly automationId: string
  readonly contactId: string
  readonly origin: CallOrigin
  readonly sequence: number
  readonly wakeCount: number
  readonly faults: number
  readonly callId: string | null
  readonly phoneNumber: string | undefined
  /** Agent of the current step, if it may take calls. */
  readonly agent: EligibleAgent | undefined
  readonly definition: AutomationDefinition | undefined
  /** The organization's policy, as stored. */
  readonly policy: CallingPolicyJson
  readonly state: RunState
  readonly facts: RunFacts
}

type RunColumns = {
  readonly automation_id: string
  readonly automation_version: number
  readonly automation_status: AutomationStatus
  readonly contact_id: string
  readonly origin: CallOrigin
  readonly status: ActiveRunStatus
  readonly step: string | null
  readonly phase: Phase
  readonly attempt: number
  readonly steps_executed: number
  readonly call_id: string | null
  readonly last_outcome: string | null
  readonly last_answer_status: AnswerStatus | null
  readonly due_at: Date | null
  readonly started_at: Date | null
  readonly sequence: number
  readonly wake_count: number
  readonly faults: number
  readonly is_cancel_requested: boolean
  readonly now: Date
}

type Surroundings = {
  readonly policy: CallingPolicyJson
  readonly is_contact_known: boolean
  readonly is_on_do_not_call_list: boolean
  readonly call_status: CallStatus | null
  readonly is_call_waiting: boolean
  readonly was_dialled: boolean
  readonly call_answer_status: AnswerStatus | null
  readonly call_outcome: string | null
  readonly is_outcome_pending: boolean
} & { readonly [Field in BranchableField]: string | null }

type RunRow = RunColumns & Surroundings

/** An answered call without an outcome may get one from its summary; this is the limit of that wait. */
const maxOutcomeWait = '10 minutes'

// All rows around the run are found by their key (`limit 1` leaves no other join), whatever statistics the planner
// has.
const loadStatement = sql(
  'load-run.loadRun',
  `select r.automation_id, r.automation_version, a.status as automation_status, r.contact_id, r.origin, r.status,
          r.step, r.phase, r.attempt, r.steps_executed, r.call_id, r.last_outcome, r.last_answer_status, r.due_at,
          r.started_at, r.sequence, r.wake_count, r.faults, r.cancel_requested_at is not null as is_cancel_requested,
          clock_timestamp() as now,
          o.policy, k.id is not null as is_contact_known,
          d.phone_number is not null as is_on_do_not_call_list,
          ${branchableFields.map((field) => `k.${field}`).join(', ')},
          c.status as call_status, coalesce(c.status = 'queued' and c.lease_token is null, false) as is_call_waiting,
          c.dialing_at is not null as was_dialled,
          c.answer_status as call_answer_status, c.outcome as call_outcome,
          coalesce(c.outcome is null and s.status = 'processing'
                   and c.ended_at > now() - interval '${maxOutcomeWait}', false) as is_outcome_pending
     from automation_runs r
     join organizations o on o.id = r.organization_id
     join lateral (select status from automations
                    where organization_id = r.organization_id and id = r.automation_id
                    limit 1) a on true
     left join lateral (select * from contacts
                         where organization_id = r.organization_id and id = r.contact_id
                         limit 1) k on true
     left join lateral (select phone_number from dnc_numbers
                         where organization_id = r.organization_id and phone_number = k.phone_number
                         limit 1) d on true
     left join lateral (select * from calls
                         where organization_id = r.organization_id and id = r.call_id
                         limit 1) c on true
     left join lateral (select status from results
                         where organization_id = r.organization_id and call_id = r.call_id and kind = 'summary'
                         limit 1) s on true
    where r.organization_id = $1
      and r.id = $2
      and ${activeFragment('r.status')}`,
)

/** Undefined: the run is over. `now` replaces the database's clock if a test controls time. */
export const loadRun = async (
  db: Queryable,
  { organizationId, runId }: ClaimedRun,
  definitions: DefinitionCache,
  now?: Date,
): Promise<LoadedRun | undefined> => {
  const row = await db.row<RunRow>(loadStatement, [organizationId, runId])
  if (!row) return undefined
  const { automation_id: automationId, automation_version: version } = row
  const definition = await definitions.find(db, organizationId, automationId, version)
  const { agent, isAgentEligible } = await findAgentOf(db, organizationId, definition, row.step)
  return {
    organizationId,
    runId,
    automationId,
    contactId: row.contact_id,
    origin: row.origin,
    sequence: row.sequence,
    wakeCount: row.wake_count,
    faults: row.faults,
    callId: row.call_id,
    phoneNumber: row.phone_number ?? undefined,
    agent,
    definition,
    policy: row.policy,
    state: stateOf(row),
    facts: {
      nowMs: (now ?? row.now).getTime(),
      automationStatus: row.automation_status,
      isCancelRequested: row.is_cancel_requested,
      isAgentEligible,
      contact: contactOf(row),
      call: callOf(row),
    },
  }
}

/**
 * The run after a move to the next step, without reading it again: its environment was read a moment ago. A
 * transaction that changed it meanwhile has woken the run, so that its next move is refused and it is loaded again.
 */
export const afterMove = async (
  db: Queryable,
  run: LoadedRun,
  state: RunState,
): Promise<LoadedRun> => {
  const found = await findAgentOf(db, run.organizationId, run.definition, state.step)
  const { isAgentEligible, agent } = found
  return {
    ...run,
    agent,
    state,
    sequence: run.sequence + 1,
    callId: null,
    faults: 0,
    facts: { ...run.facts, isAgentEligible, call: undefined },
  }
}

interface StepAgent {
  readonly agent: EligibleAgent | undefined
  readonly isAgentEligible: boolean
}

const findAgentOf = async (
  db: Queryable,
  organizationId: OrganizationId,
  definition: AutomationDefinition | undefined,
  stepName: string | null,
): Promise<StepAgent> => {
  const step = stepName === null ? undefined : definition?.steps[stepName]
  if (step?.type !== 'call') return { agent: undefined, isAgentEligible: true }
  const row = await findAgent(db, organizationId, step.agent_id)
  const agent = row && eligibleAgent(row)
  return { agent, isAgentEligible: agent !== undefined }
}

const stateOf = (row: RunColumns): RunState => ({
  status: row.status,
  step: row.step,
  phase: row.phase,
  attempt: row.attempt,
  stepsExecuted: row.steps_executed,
  dueMs: row.due_at?.getTime() ?? null,
  startedMs: row.started_at?.getTime() ?? null,
  last: { outcome: row.last_outcome, answerStatus: row.last_answer_status },
})

const callOf = (row: Surroundings): CallFacts | undefined =>
  row.call_status === null
    ? undefined
    : {
        status: row.call_status,
        isWaiting: row.is_call_waiting,
        answerStatus: row.call_answer_status,
        outcome: row.call_outcome,
        wasDialled: row.was_dialled,
        isOutcomePending: row.is_outcome_pending,
      }

const contactOf = (row: Surroundings): ContactFacts | undefined => {
  if (!row.is_contact_known) return undefined
  const fields = Object.fromEntries(branchableFields.map((field) => [field, row[field] ?? '']))
  return contactFacts(
    fields as Record<BranchableField, string>,
    policyOfJson(row.policy),
    row.is_on_do_not_call_list,
  )
}
