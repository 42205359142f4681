import type { PersonInput } from './person-input.ts'
import { sql, type Queryable, type Transaction } from '../../database/database.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { newId } from '../../runtime/ids.ts'

/** The contacts with the identity or the number of some recipient. */
export interface KnownContact {
  readonly id: string
  readonly source: string
  /** Null while no caller manages this contact's identity. */
  readonly external_id: string | null
  readonly phone_number: string
}

// Each is found by its own index (`limit 1` leaves no other join), whatever statistics the planner has.
const knownText = `with named as materialized (
     select k.organization_id, k.id
       from unnest($2::text[], $3::text[]) as i (source, external_id)
      cross join lateral (
        select organization_id, id
          from contacts
         where organization_id = $1 and source = i.source and external_id = i.external_id
         limit 1
      ) k
      union
     select k.organization_id, k.id
       from unnest($4::text[]) as i (phone_number)
      cross join lateral (
        select organization_id, id
          from contacts
         where organization_id = $1 and phone_number = i.phone_number
         limit 1
      ) k
   )
   select c.id, c.source, c.external_id, c.phone_number
     from named n
     join contacts c on c.organization_id = n.organization_id and c.id = n.id
    order by c.id`

const knownStatement = sql('contacts-of-recipients.findKnownContacts', knownText)

// In the order of ids, as the upsert of a single contact locks them.
const lockStatement = sql(
  'contacts-of-recipients.lockKnownContacts',
  `${knownText} for no key update of c`,
)

const knownValues = (organizationId: OrganizationId, inputs: readonly PersonInput[]): unknown[] => [
  organizationId,
  inputs.map((input) => input.source),
  inputs.map((input) => input.external_id ?? null),
  inputs.map((input) => input.phone_number),
]

export const findKnownContacts = (
  db: Queryable,
  organizationId: OrganizationId,
  inputs: readonly PersonInput[],
): Promise<KnownContact[]> =>
  db.rows<KnownContact>(knownStatement, knownValues(organizationId, inputs))

/** Their state after concurrent writers; locked until the transaction ends. */
export const lockKnownContacts = (
  tx: Transaction,
  organizationId: OrganizationId,
  inputs: readonly PersonInput[],
): Promise<KnownContact[]> =>
  tx.rows<KnownContact>(lockStatement, knownValues(organizationId, inputs))

const inputColumns = `unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                 $9::text[], $10::text[], $11::text[])
            as i (id, source, external_id, name, phone_number, email, company, role, city, country)`

const updateStatement = sql(
  'contacts-of-recipients.updateContacts',
  `update contacts c
      set source       = case when i.external_id is null then c.source else i.source end,
          external_id  = coalesce(i.external_id, c.external_id),
          name         = i.name,
          phone_number = i.phone_number,
          email        = coalesce(i.email, c.email),
          company      = coalesce(i.company, c.company),
          role         = coalesce(i.role, c.role),
          city         = coalesce(i.city, c.city),
          country      = coalesce(i.country, c.country),
          updated_at   = now()
     -- With each its organization, so that it is found by both: never by reading the organization once for each of them.
     from (select $1::uuid as organization_id, i.* from ${inputColumns} offset 0) as i
    where c.organization_id = i.organization_id
      and c.id = i.id`,
)

export interface ContactChange {
  readonly id: string
  readonly input: PersonInput
}

/** The caller holds their locks. Throws the unique violation if a concurrent writer took a number meanwhile. */
export const updateContacts = async (
  tx: Transaction,
  organizationId: OrganizationId,
  changes: readonly ContactChange[],
): Promise<void> => {
  await tx.run(updateStatement, changeValues(organizationId, changes))
}

const insertStatement = sql(
  'contacts-of-recipients.insertContacts',
  `insert into contacts (organization_id, id, source, external_id, name, phone_number, email, company, role, city, country)
   select $1, i.*
     from ${inputColumns}
    order by i.phone_number
   on conflict do nothing
   returning id`,
)

/** In the order of their numbers. Returns the ids of those that no concurrent writer created first. */
export const insertContacts = async (
  tx: Transaction,
  organizationId: OrganizationId,
  inputs: readonly PersonInput[],
): Promise<Map<PersonInput, string>> => {
  const changes = inputs.map((input) => ({ id: newId(), input }))
  const rows = await tx.rows<{ id: string }>(insertStatement, changeValues(organizationId, changes))
  const inserted = new Set(rows.map((row) => row.id))
  return new Map(
    changes.filter(({ id }) => inserted.has(id)).map(({ id, input }) => [input, id] as const),
  )
}

const changeValues = (
  organizationId: OrganizationId,
  changes: readonly ContactChange[],
): unknown[] => [
  organizationId,
  changes.map(({ id }) => id),
  changes.map(({ input }) => input.source),
  changes.map(({ input }) => input.external_id ?? null),
  changes.map(({ input }) => input.name),
  changes.map(({ input }) => input.phone_number),
  changes.map(({ input }) => input.email ?? null),
  changes.map(({ input }) => input.company ?? null),
  changes.map(({ input }) => input.role ?? null),
  changes.map(({ input }) => input.city ?? null),
  changes.map(({ input }) => input.country ?? null),
]

const existingStatement = sql(
  'contacts-of-recipients.findPhoneNumbers',
  `select id, phone_number
     from contacts
    where organization_id = $1
      and id = any ($2::uuid[])`,
)

/** The numbers of the existing contacts, by id. */
export const findPhoneNumbers = async (
  db: Queryable,
  organizationId: OrganizationId,
  contactIds: readonly string[],
): Promise<Map<string, string>> => {
  const rows = await db.rows<{ id: string; phone_number: string }>(existingStatement, [
    organizationId,
    contactIds,
  ])
  return new Map(rows.map((row) => [row.id, row.phone_number]))
}
