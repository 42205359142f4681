import type { Queryable } from '../../database/database.ts'
import { InvalidFileError, type FileProblem } from '../organizations/invalid-file.ts'
import { judgeTransferNow } from '../organizations/judge-transfer.ts'
import type { AgentDefinition } from './agent-definition.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/**
 * Refuses an agent whose `transfer_call` target its organization may not call today; throws `InvalidFileError`.
 * Each call judges the target again, because the policy may have changed.
 */
export const checkTransfers = async (
  db: Queryable,
  organizationId: OrganizationId,
  { tools = [] }: AgentDefinition,
): Promise<void> => {
  const problems: FileProblem[] = []
  for (const [index, tool] of tools.entries()) {
    if (!('builtin' in tool)) continue
    const verdict = await judgeTransferNow(db, organizationId, tool.to)
    if ('problem' in verdict)
      problems.push({ path: `tools[${index}].to`, message: verdict.problem })
  }
  if (problems.length > 0) throw new InvalidFileError(problems)
}
