import type { RunFailureCode } from '../../../../src/contract/automation-runs.ts'

// Only the type comes from the contract: its file would bring Zod into the page's program.
const meanings: Readonly<Record<RunFailureCode, true>> = {
  retries_exhausted: true,
  call_failed: true,
  recipient_blocked: true,
  contact_unavailable: true,
  agent_unavailable: true,
  automation_unavailable: true,
  definition_invalid: true,
  step_limit_exceeded: true,
  run_expired: true,
  internal_error: true,
}

/** Every code of the contract: a missing one does not compile. */
export const runFailureCodes: readonly string[] = Object.keys(meanings)
