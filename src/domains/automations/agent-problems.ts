import type { Queryable } from '../../database/database.ts'
import { findAgent } from '../agents/agent-store.ts'
import { eligibleAgent } from '../agents/eligible-agent.ts'
import type { FileProblem } from '../organizations/invalid-file.ts'
import { outlineOf } from './definition-outline.ts'
import {
  acceptAutomationFile,
  automationFileProblems,
  definitionOf,
} from './definition-problems.ts'
import { isDefinitionTooLarge, type AutomationFile } from './definition.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** Checks an Automation file and that its agents may take calls (D6); throws `InvalidFileError`. */
export const checkAutomationOf = async (
  db: Queryable,
  organizationId: OrganizationId,
  file: unknown,
): Promise<AutomationFile> => {
  return acceptAutomationFile(file, await automationProblems(db, organizationId, file))
}

/** Every problem of an Automation file, those of its agents too. */
export const automationProblems = async (
  db: Queryable,
  organizationId: OrganizationId,
  file: unknown,
): Promise<FileProblem[]> => [
  ...automationFileProblems(file),
  ...(await agentProblems(db, organizationId, definitionOf(file))),
]

/** Every call step whose agent the organization lacks, or may not use. */
const agentProblems = async (
  db: Queryable,
  organizationId: OrganizationId,
  definition: unknown,
): Promise<FileProblem[]> => {
  if (isDefinitionTooLarge(definition)) return []
  const problems: FileProblem[] = []
  for (const [name, { agentId }] of outlineOf(definition).steps) {
    if (agentId === undefined || agentId === '') continue
    const agent = await findAgent(db, organizationId, agentId)
    const path = `definition.steps.${name}.agent_id`
    if (!agent) problems.push({ path, message: 'There is no agent of this id.' })
    else if (!eligibleAgent(agent))
      problems.push({ path, message: 'This agent is not published, or is archived.' })
  }
  return problems
}
