import type { OrganizationId } from '../../contract/organization-id.ts'
import { sql, type Queryable } from '../../database/database.ts'
import { isNumberedCountry, nationalDigits, toE164 } from '../../numbering/national-number.ts'

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

/** The numbers of organizations, and the caller ID of the installation. */
export const createFindOurNumber =
  (callerId: string | undefined): FindOurNumber =>
  async (db, written) => {
    const found = await findInTable(db, written)
    if (found !== undefined) return found
    if (callerId === undefined || !written.some((each) => isSame(each, callerId))) return undefined
    return { number: callerId, organizationId: await userOfCallerId(db) }
  }

const plainOf = ({ text }: WrittenNumber): string => text.replaceAll(/[-.() ]/g, '')

const isSame = (written: WrittenNumber, number: string): boolean =>
  written.e164.includes(number) || plainOf(written) === nationalDigits(number)

const findInTable = async (
  db: Queryable,
  written: readonly WrittenNumber[],
): Promise<OurNumber | undefined> => {
  const direct = await ownerOf(
    db,
    written.flatMap(({ e164 }) => e164),
  )
  if (direct !== undefined) return direct
  const digits = written.map(plainOf).filter((plain) => /^\d{4,15}$/.test(plain))
  if (digits.length === 0) return undefined
  const countries = await db.rows<{ country: string }>(countriesStatement, [])
  return ownerOf(
    db,
    digits.flatMap((plain) =>
      countries.flatMap(({ country }) =>
        isNumberedCountry(country) ? (toE164(plain, country) ?? []) : [],
      ),
    ),
  )
}

/** More organizations than one share a number seldom; whose it is counts only where it is one. */
const maxRows = 100

const ownersStatement = sql(
  'our-numbers.owners',
  `select phone_number, organization_id
     from caller_numbers
    where phone_number = any ($1)
    limit ${maxRows}`,
)

/** The first of the candidates that is in the table. */
const ownerOf = async (
  db: Queryable,
  candidates: readonly string[],
): Promise<OurNumber | undefined> => {
  if (candidates.length === 0) return undefined
  const rows = await db.rows<{ phone_number: string; organization_id: OrganizationId }>(
    ownersStatement,
    [candidates],
  )
  const number = candidates.find((each) => rows.some((row) => row.phone_number === each))
  if (number === undefined) return undefined
  const owners = rows.filter((row) => row.phone_number === number)
  return { number, organizationId: owners.length === 1 ? owners[0]?.organization_id : undefined }
}

/** An installation has numbers of some countries; those of more are not read in national notation. */
const countriesStatement = sql(
  'our-numbers.countries',
  `select distinct country
     from caller_numbers
    where country is not null
    limit 50`,
)

const usersStatement = sql(
  'our-numbers.usersOfCallerId',
  `(select id, true as is_only_if_alone from organizations where mode = 'live' limit 2)
   union all
   (select o.id, false
      from organizations o
     where o.mode = 'live'
       and not exists (select from caller_numbers n where n.organization_id = o.id)
     limit 2)`,
)

/** The only live organization, or the only one without numbers of its own. */
const userOfCallerId = async (db: Queryable): Promise<OrganizationId | undefined> => {
  const rows = await db.rows<{ id: OrganizationId; is_only_if_alone: boolean }>(usersStatement, [])
  const live = rows.filter((row) => row.is_only_if_alone)
  const users = live.length === 1 ? live : rows.filter((row) => !row.is_only_if_alone)
  return users.length === 1 ? users[0]?.id : undefined
}
