import type { Queryable } from '../../database/database.ts'
import { findAgent } from '../agents/agent-store.ts'
import { eligibleAgent } from '../agents/resolve-agent.ts'
import { InvalidFileError, type FileProblem } from '../organizations/invalid-file.ts'
import type { AutomationDefinition, AutomationFile } from './definition.ts'
import { checkAutomationFile } from './definition-problems.ts'

/** Checks an Automation file and that its agents may take calls (D6); throws `InvalidFileError`. */
export const checkAutomationOf = async (
  db: Queryable,
  organizationId: string,
  file: unknown,
): Promise<AutomationFile> => {
  const checked = checkAutomationFile(file)
  const problems = await agentProblems(db, organizationId, checked.definition)
  if (problems.length > 0) throw new InvalidFileError(problems)
  return checked
}

/** Every call step whose agent the organization does not have, or may not use. */
const agentProblems = async (
  db: Queryable,
  organizationId: string,
  { steps }: AutomationDefinition,
): Promise<FileProblem[]> => {
  const problems: FileProblem[] = []
  for (const [name, step] of Object.entries(steps)) {
    if (step.type !== 'call') continue
    const agent = await findAgent(db, organizationId, step.agent_id)
    const path = `definition.steps.${name}.agent_id`
    if (!agent) problems.push({ path, message: 'There is no agent of this id.' })
    else if (!eligibleAgent(agent))
      problems.push({ path, message: 'This agent is not published, or is archived.' })
  }
  return problems
}
