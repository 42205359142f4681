import type { OrganizationId } from '../../contract/organization-id.ts'
import { isUuid, newId } from '../../runtime/ids.ts'

export const newOrganizationId = (): OrganizationId => newId() as OrganizationId

/** Whether the text can be the id of an organization. */
export const isOrganizationId = (text: string): text is OrganizationId => isUuid(text)
