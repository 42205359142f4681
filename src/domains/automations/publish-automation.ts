import type { Automation } from '../../contract/automations.ts'
import type { Queryable } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { newId } from '../../runtime/ids.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import { checkAutomationOf } from './agent-problems.ts'
import { automationResource } from './automation-resource.ts'
import { addVersion, findAutomation, insertAutomation } from './automation-store.ts'

interface PublishOptions {
  /** The Automation that gets a new version; by default a new one. */
  readonly automationId?: string
  /** The version that was changed into this one; another published one is not replaced. */
  readonly baseVersion?: number | undefined
  /** Creates a draft, which takes no runs until it is resumed. */
  readonly isDraft?: boolean
}

/**
 * Publishes an Automation file (parsed JSON). Versions never change: active runs keep theirs. Throws
 * `InvalidFileError` with a path and a sentence for each problem, `OperatorError` for an unknown or archived
 * Automation, and for one that was published after `baseVersion`.
 */
export const publishAutomation = async (
  db: Queryable,
  organizationId: OrganizationId,
  file: unknown,
  { automationId, baseVersion, isDraft = false }: PublishOptions = {},
): Promise<Automation> => {
  const checked = await checkAutomationOf(db, organizationId, file)
  if (automationId === undefined) {
    const status = isDraft ? 'draft' : 'active'
    return automationResource(await insertAutomation(db, organizationId, newId(), status, checked))
  }
  const row = await addVersion(db, organizationId, automationId, checked, baseVersion)
  if (row) return automationResource(row)
  const present = await findAutomation(db, organizationId, automationId)
  if (present && present.status !== 'archived')
    throw new OperatorError(
      `Version ${present.published_version} was published meanwhile; this one was made from version ${baseVersion}.`,
    )
  throw new OperatorError(`There is no Automation ${automationId} here, or it is archived.`)
}
