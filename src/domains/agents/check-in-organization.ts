import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Queryable } from '../../database/database.ts'
import { InvalidFileError } from '../organizations/invalid-file.ts'
import type { AgentDefinition } from './agent-definition.ts'
import { callerIdProblems } from './check-caller-ids.ts'
import { transferProblems } from './check-transfers.ts'

/**
 * Refuses an agent that its organization does not allow today: the target of a transfer, or a number to call from.
 * Throws `InvalidFileError`. Each call judges both again.
 */
export const checkInOrganization = async (
  db: Queryable,
  organizationId: OrganizationId,
  definition: AgentDefinition,
): Promise<void> => {
  const problems = [
    ...(await transferProblems(db, organizationId, definition)),
    ...(await callerIdProblems(db, organizationId, definition)),
  ]
  if (problems.length > 0) throw new InvalidFileError(problems)
}
