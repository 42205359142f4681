import { formatDateTime } from '../../contract/date-time.ts'
import type { OrganizationMode } from './organization-mode.ts'
import type { RecordingChoice } from './recording-choice.ts'
import type { Quotas } from './quotas.ts'
import type { OrganizationRecord } from './organization-store.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** An organization as commands print it. */
export interface Organization {
  readonly id: OrganizationId
  readonly name: string
  /** Whether its calls go to the sandbox carrier or to real phones. Omitted until the next start decides it. */
  readonly mode?: OrganizationMode
  readonly default_version: string
  readonly public_api_enabled: boolean
  readonly concurrency: number
  /** Omitted while everything is kept. */
  readonly retention_days?: number
  /** Omitted while calls are recorded, unless their agent does without. */
  readonly recording?: RecordingChoice
  /** Omitted while the installation decides. */
  readonly calls_back?: string
  /** The operator's settings; defaults are omitted. */
  readonly quotas?: Partial<Quotas>
  readonly created_at: string
  readonly updated_at: string
}

export const organizationResource = (record: OrganizationRecord): Organization => ({
  id: record.id,
  name: record.name,
  ...(record.mode !== null && { mode: record.mode }),
  default_version: record.defaultVersion,
  public_api_enabled: record.publicApiEnabled,
  concurrency: record.concurrency,
  ...(record.retentionDays !== null && { retention_days: record.retentionDays }),
  ...(record.recording !== 'always' && { recording: record.recording }),
  ...(record.callsBack !== null && { calls_back: record.callsBack }),
  ...(Object.keys(record.quotas).length > 0 && { quotas: record.quotas }),
  created_at: formatDateTime(record.createdAt),
  updated_at: formatDateTime(record.updatedAt),
})
