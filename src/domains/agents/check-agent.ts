import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Queryable } from '../../database/database.ts'
import { InvalidFileError, type FileProblem } from '../organizations/invalid-file.ts'
import { checkAgentFile } from './agent-definition.ts'
import { checkInOrganization } from './check-in-organization.ts'

/** Why an agent file could not be published; empty where it could. */
export const agentProblems = async (
  db: Queryable,
  organizationId: OrganizationId,
  file: unknown,
): Promise<readonly FileProblem[]> => {
  try {
    await checkInOrganization(db, organizationId, checkAgentFile(file))
    return []
  } catch (error) {
    if (error instanceof InvalidFileError) return error.problems
    throw error
  }
}
