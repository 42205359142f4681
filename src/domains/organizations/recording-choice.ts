import { sql, type Queryable } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

/** Whether conversations are recorded (D17); the transcript is written either way. */
export const recordingChoices = ['always', 'never'] as const

export type RecordingChoice = (typeof recordingChoices)[number]

const findStatement = sql(
  'recording-choice.findRecordingChoice',
  `select recording
     from organizations
    where id = $1`,
)

/** The organization's choice, as it is at this moment. */
export const findRecordingChoice = async (
  db: Queryable,
  organizationId: OrganizationId,
): Promise<RecordingChoice | undefined> =>
  (await db.row<{ recording: RecordingChoice }>(findStatement, [organizationId]))?.recording

/** `never` of the organization or of the agent wins: an unknown organization records nothing. */
export const isRecorded = (
  ofOrganization: RecordingChoice | undefined,
  ofAgent: RecordingChoice | undefined,
): boolean => ofOrganization === 'always' && ofAgent !== 'never'
