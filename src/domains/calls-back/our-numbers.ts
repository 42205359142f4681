import type { OrganizationId } from '../../contract/organization-id.ts'
import { sql, type Queryable } from '../../database/database.ts'
import { nationalDigits } from '../../numbering/national-number.ts'

/** One of our numbers. */
interface OurNumber {
  /** E.164. */
  readonly number: string
  /** Undefined: of several organizations. */
  readonly organizationId: OrganizationId | undefined
}

/** A number as a trunk wrote it. */
interface WrittenNumber {
  readonly text: string
  /** What it is in E.164, if it has its calling code. */
  readonly e164: readonly string[]
}

/** Which of our numbers a call is for, of those that it names, in their order; undefined: none is ours. */
export type FindOurNumber = (
  db: Queryable,
  written: readonly WrittenNumber[],
) => Promise<OurNumber | undefined>

const onlyLiveStatement = sql(
  'our-numbers.onlyLiveOrganization',
  `select id
     from organizations
    where mode = 'live'
    limit 2`,
)

const onlyLiveOrganization = async (db: Queryable): Promise<OrganizationId | undefined> => {
  const rows = await db.rows<{ id: OrganizationId }>(onlyLiveStatement, [])
  return rows.length === 1 ? rows[0]?.id : undefined
}

/** The caller ID of the installation: of its live organization, if there is one only. */
export const findCallerIdOfInstallation =
  (callerId: string | undefined): FindOurNumber =>
  async (db, written) => {
    if (callerId === undefined || !written.some((each) => isSame(each, callerId))) return undefined
    return { number: callerId, organizationId: await onlyLiveOrganization(db) }
  }

const isSame = ({ text, e164 }: WrittenNumber, number: string): boolean =>
  e164.includes(number) || text.replaceAll(/[-.() ]/g, '') === nationalDigits(number)
