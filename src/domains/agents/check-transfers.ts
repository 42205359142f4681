import type { Queryable } from '../../database/database.ts'
import type { FileProblem } from '../organizations/invalid-file.ts'
import { judgeTransferNow } from '../organizations/judge-transfer.ts'
import type { AgentDefinition } from './agent-definition.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/**
 * The agent's `transfer_call` targets that its organization may not call today. Each call judges the target again,
 * because the policy may have changed.
 */
export const transferProblems = async (
  db: Queryable,
  organizationId: OrganizationId,
  { tools = [] }: AgentDefinition,
): Promise<readonly FileProblem[]> => {
  const problems: FileProblem[] = []
  for (const [index, tool] of tools.entries()) {
    if (!('builtin' in tool)) continue
    const verdict = await judgeTransferNow(db, organizationId, tool.to)
    if ('problem' in verdict)
      problems.push({ path: `tools[${index}].to`, message: verdict.problem })
  }
  return problems
}
