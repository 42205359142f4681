import type { ContactInput } from '../../contract/contacts.ts'
import { lookup, sql, type Queryable, type Transaction } from '../../database/database.ts'
import { newestFirst } from '../../database/newest-first.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { isUuid, newId } from '../../runtime/ids.ts'

/** A stored contact. */
export interface ContactRow {
  readonly id: string
  readonly source: string
  /** Null while no caller manages this contact's identity. */
  readonly external_id: string | null
  readonly name: string
  readonly phone_number: string
  readonly email: string | null
  readonly company: string | null
  readonly role: string | null
  readonly city: string | null
  readonly country: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

const columns = `source, external_id, name, phone_number, email, company, role, city, country,
       created_at, updated_at`

const assignments = `source = $3,
            external_id = $4,
            name = $5,
            phone_number = $6,
            email = coalesce($7, c.email),
            company = coalesce($8, c.company),
            role = coalesce($9, c.role),
            city = coalesce($10, c.city),
            country = coalesce($11, c.country),
            updated_at = now()`

const returned = `c.id, c.source, c.external_id, c.name, c.phone_number, c.email, c.company, c.role, c.city,
               c.country, c.created_at, c.updated_at`

// One round trip for a new contact, an update and an adoption. `found` locks, in one order, the contacts with the
// identity or the number (`named`: each by its index, whatever statistics the planner has), as they are after
// concurrent writers; `chosen` is the one to update by D4. If nothing was found and nothing inserted, a concurrent
// insert won, and a new statement will see it. `moving_id`: the contact is to get another number, which takes a
// second statement, see below.
const upsertStatement = sql(
  'contact-store.upsertContactRow',
  `with named as materialized (
     select organization_id, id
       from contacts
      where organization_id = $1
        and source = $3
        and external_id = $4
      union
     select organization_id, id
       from contacts
      where organization_id = $1
        and phone_number = $6
   ),
   found as materialized (
     select c.organization_id, c.id, c.external_id, c.phone_number,
            (c.source = $3 and c.external_id = $4) is true as has_identity
       from named n
       join contacts c on c.organization_id = n.organization_id and c.id = n.id
      -- As it is once it is locked.
      where (c.source = $3 and c.external_id = $4)
         or c.phone_number = $6
      order by c.id
        for no key update of c
   ),
   only_one as (
     select *
       from found
      where (select count(*) from found) = 1
   ),
   chosen as (
     select organization_id, id
       from only_one
      where phone_number = $6
        and (has_identity or external_id is null)
   ),
   updated as (
     update contacts c
        set ${assignments}
       from chosen
      where c.organization_id = chosen.organization_id
        and c.id = chosen.id
     returning ${returned}
   ),
   inserted as (
     select ${returned}
       from (select $1::uuid as organization_id where not exists (select from found)) as nobody
      cross join lateral insert_contact_unless_taken(
              nobody.organization_id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) as c
   )
   select exists (select from found) as is_found,
          (select id from only_one where has_identity and phone_number <> $6) as moving_id,
          w.is_new, w.id, ${columns}
     from (select) as always
     left join (
       select true as is_new, i.* from inserted i
       union all
       select false, u.* from updated u
     ) w on true`,
)

// Runs while this transaction holds the contact's lock, with a later snapshot. So it waits only for writers that
// took the number after our lock, and a cycle of contacts exchanging numbers cannot deadlock.
const moveStatement = sql(
  'contact-store.moveContactRow',
  `update contacts c
      set ${assignments}
    where c.organization_id = $1
      and c.id = $2
      and not exists (
            select from contacts other
             where other.organization_id = $1
               and other.phone_number = $6
               and other.id <> $2)
   returning ${returned}`,
)

export type UpsertOutcome =
  | { readonly kind: 'created' | 'updated'; readonly contact: ContactRow }
  | { readonly kind: 'conflict' }
  /** A concurrent insert won: the caller asks again. */
  | { readonly kind: 'lost' }

interface UpsertHead {
  readonly is_found: boolean
  readonly moving_id: string | null
}

/** Throws the unique violation if a concurrent writer took the number or the identity meanwhile. */
export const upsertContactRow = async (
  tx: Transaction,
  organizationId: OrganizationId,
  input: ContactInput,
): Promise<UpsertOutcome> => {
  const row = await tx.row<UpsertHead & ({ is_new: null } | ({ is_new: boolean } & ContactRow))>(
    upsertStatement,
    upsertValues(organizationId, newId(), input),
  )
  if (!row) throw new Error('The contact upsert answered no row.')
  const { is_found: isFound, moving_id: movingId, ...written } = row
  if (movingId !== null) return moveContactRow(tx, organizationId, movingId, input)
  if (written.is_new === null) return { kind: isFound ? 'conflict' : 'lost' }
  const { is_new: isNew, ...contact } = written
  return { kind: isNew ? 'created' : 'updated', contact }
}

const moveContactRow = async (
  tx: Transaction,
  organizationId: OrganizationId,
  contactId: string,
  input: ContactInput,
): Promise<UpsertOutcome> => {
  const contact = await tx.row<ContactRow>(
    moveStatement,
    upsertValues(organizationId, contactId, input),
  )
  return contact ? { kind: 'updated', contact } : { kind: 'conflict' }
}

const upsertValues = (
  organizationId: OrganizationId,
  id: string,
  input: ContactInput,
): unknown[] => [
  organizationId,
  id,
  input.source,
  input.external_id,
  input.name,
  input.phone_number,
  input.email ?? null,
  input.company ?? null,
  input.role ?? null,
  input.city ?? null,
  input.country ?? null,
]

const findStatement = lookup(
  'contact-store.findContact',
  `select id, ${columns}
     from contacts
    where organization_id = $1
      and id = $2`,
)

/** Undefined for an unknown id, one of another organization, and a malformed id. */
export const findContact = async (
  db: Queryable,
  organizationId: OrganizationId,
  contactId: string,
): Promise<ContactRow | undefined> =>
  isUuid(contactId) ? db.row<ContactRow>(findStatement, [organizationId, contactId]) : undefined

const findByNumberStatement = sql(
  'contact-store.findContactByNumber',
  `select id, ${columns}
     from contacts
    where organization_id = $1
      and phone_number = $2`,
)

export const findContactByNumber = (
  db: Queryable,
  organizationId: OrganizationId,
  phoneNumber: string,
): Promise<ContactRow | undefined> =>
  db.row<ContactRow>(findByNumberStatement, [organizationId, phoneNumber])

const deleteStatement = sql(
  'contact-store.deleteContact',
  `delete from contacts
    where organization_id = $1
      and id = $2`,
)

/** Whether there was one. Its calls stay, and recordings lose their contact. */
export const deleteContact = async (
  tx: Transaction,
  organizationId: OrganizationId,
  contactId: string,
): Promise<boolean> => (await tx.run(deleteStatement, [organizationId, contactId])) > 0

const insertManualStatement = sql(
  'contact-store.insertManualContact',
  `select id, ${columns}
     from insert_contact_unless_taken($1, $2, 'manual_dial', null, $4, $3, null, null, null, null, null)`,
)

/** A contact without a managed identity; undefined if the number has a contact. */
export const insertManualContact = (
  db: Queryable,
  organizationId: OrganizationId,
  phoneNumber: string,
  name: string,
): Promise<ContactRow | undefined> =>
  db.row<ContactRow>(insertManualStatement, [organizationId, newId(), phoneNumber, name])

/** Newest first. Filter values are named as in the contract. */
export const listContactRows = newestFirst<
  ContactRow,
  'external_id' | 'source' | 'created_after' | 'created_before'
>({
  name: 'contact-store.listContactRows',
  columns,
  table: 'contacts',
  sortColumn: 'created_at',
  filters: {
    external_id: 'external_id = ?',
    source: 'source = ?',
    created_after: 'created_at >= ?::timestamptz',
    created_before: 'created_at < ?::timestamptz',
  },
  // Worded as the indexes of migrations/0150-list-indexes.sql and 0156-indexes-of-one-purpose.sql.
  ways: [
    { filter: 'external_id' },
    { filter: 'source', where: "updated_at > '-infinity'" },
    { where: "id <> '00000000-0000-0000-0000-000000000000'" },
  ],
})

const holderStatement = sql(
  'contact-store.findNumberHolder',
  `select source, external_id
     from contacts
    where organization_id = $1
      and phone_number = $2`,
)

/** The identity of the contact that has the number. */
export const findNumberHolder = (
  db: Queryable,
  organizationId: OrganizationId,
  phoneNumber: string,
): Promise<Pick<ContactRow, 'source' | 'external_id'> | undefined> =>
  db.row(holderStatement, [organizationId, phoneNumber])
