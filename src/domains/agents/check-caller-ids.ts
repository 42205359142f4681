import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Queryable } from '../../database/database.ts'
import { unknownNumbers } from '../numbers/number-store.ts'
import type { FileProblem } from '../organizations/invalid-file.ts'
import type { AgentDefinition } from './agent-definition.ts'

/** The agent's `caller_ids` that are no numbers of its organization, which may not show them. */
export const callerIdProblems = async (
  db: Queryable,
  organizationId: OrganizationId,
  { caller_ids: callerIds = [] }: Pick<AgentDefinition, 'caller_ids'>,
): Promise<readonly FileProblem[]> => {
  if (callerIds.length === 0) return []
  const unknown = new Set(await unknownNumbers(db, organizationId, callerIds))
  return callerIds.flatMap((number, index) =>
    unknown.has(number)
      ? [
          {
            path: `caller_ids[${index}]`,
            message: `${number} is no number of the organization: add it to its numbers first, or choose one of them.`,
          },
        ]
      : [],
  )
}
