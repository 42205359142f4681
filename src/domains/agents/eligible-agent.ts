import type { AgentRow } from './agent-store.ts'

/** An agent that may take new calls, with the version that they pin. */
export interface EligibleAgent {
  readonly id: string
  readonly version: number
}

/** The agent if it is published and not archived. */
export const eligibleAgent = (row: AgentRow): EligibleAgent | undefined =>
  row.published_version === null || row.archived_at !== null
    ? undefined
    : { id: row.id, version: row.published_version }
