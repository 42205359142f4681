import type { Automation } from '../../contract/automations.ts'
import type { AutomationRow } from './automation-store.ts'

/** The Automation as clients and commands see it. */
export const automationResource = (row: AutomationRow): Automation => ({
  id: row.id,
  name: row.name,
  ...(row.description !== null && { description: row.description }),
  status: row.status,
  input_fields: [],
})
