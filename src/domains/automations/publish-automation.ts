import type { Automation } from '../../contract/automations.ts'
import type { Queryable } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { newId } from '../../runtime/ids.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import { checkAutomationOf } from './agent-problems.ts'
import { automationResource } from './automation-resource.ts'
import { addVersion, insertAutomation } from './automation-store.ts'

interface PublishOptions {
  /** The Automation that gets a new version; by default a new one. */
  readonly automationId?: string
  /** Creates a draft, which takes no runs until it is resumed. */
  readonly isDraft?: boolean
}

/**
 * Publishes an Automation file (parsed JSON). Versions never change: active runs keep theirs. Throws
 * `InvalidFileError` with a path and a sentence for each problem, `OperatorError` for an unknown or archived
 * Automation.
 */
export const publishAutomation = async (
  db: Queryable,
  organizationId: OrganizationId,
  file: unknown,
  { automationId, isDraft = false }: PublishOptions = {},
): Promise<Automation> => {
  const checked = await checkAutomationOf(db, organizationId, file)
  if (automationId === undefined) {
    const status = isDraft ? 'draft' : 'active'
    return automationResource(await insertAutomation(db, organizationId, newId(), status, checked))
  }
  const row = await addVersion(db, organizationId, automationId, checked)
  if (!row)
    throw new OperatorError(`There is no Automation ${automationId} here, or it is archived.`)
  return automationResource(row)
}
