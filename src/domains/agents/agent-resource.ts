import type { Agent } from '../../contract/agents.ts'
import { formatDateTime } from '../../contract/date-time.ts'
import type { AgentRow } from './agent-store.ts'

/** The agent as clients and commands see it (D8). */
export const agentResource = (row: AgentRow): Agent => ({
  id: row.id,
  name: row.name,
  ...(row.description !== null && { description: row.description }),
  language: row.language,
  created_at: formatDateTime(row.created_at),
  updated_at: formatDateTime(row.updated_at),
})
