import type { Automation } from '../../contract/automations.ts'
import type { Queryable } from '../../database/database.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import { automationResource } from './automation-resource.ts'
import { findAutomation, findVersion, organizationOfAutomation } from './automation-store.ts'
import { readDefinition, type AutomationDefinition } from './definition.ts'

/** An Automation with the definition of its published version. */
interface ShownAutomation extends Automation {
  readonly version: number
  readonly definition: AutomationDefinition
}

/** For operators, who name it by its id alone. Throws `OperatorError`. */
export const showAutomation = async (
  db: Queryable,
  automationId: string,
): Promise<ShownAutomation> => {
  const organizationId = await organizationOfAutomation(db, automationId)
  const row =
    organizationId === undefined
      ? undefined
      : await findAutomation(db, organizationId, automationId)
  if (organizationId === undefined || !row)
    throw new OperatorError(`There is no Automation ${automationId}.`)
  const version = row.published_version
  const definition = readDefinition(await findVersion(db, organizationId, automationId, version))
  if (!definition)
    throw new OperatorError(`Version ${version} of this Automation cannot be read by this program.`)
  return { ...automationResource(row), version, definition }
}
