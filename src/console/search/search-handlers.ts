import { maxFound } from '../../contract/console/search.ts'
import { atLeast, type Role } from '../../contract/roles.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Queryable } from '../../database/database.ts'
import { listApiKeyRows } from '../../domains/api-keys/api-key-store.ts'
import { findContacts } from '../../domains/contacts/find-contacts.ts'
import { sessionOf, type ConsoleHandler } from '../console-handler.ts'
import { findById, type FoundRow } from './find-by-id.ts'
import { findByName } from './find-by-name.ts'

/** Ids begin with the time they were made at: fewer digits name too many. */
const idDigits = /^[0-9a-f]{6,32}$/
const maxContacts = 8
const maxKeys = 5

/**
 * What is named by an id, a word or a number, for the palette. Names and numbers of people are searched for operators and
 * above only, keys for administrators; answers to viewers are masked as all are.
 */
export const search: ConsoleHandler<'search'> = async ({ query: { q } }, context) => {
  const { db, organizationId } = context
  const { role } = sessionOf(context)
  const isAtLeast = (least: Role): boolean => atLeast(least).includes(role)
  const digits = q.toLowerCase().replaceAll('-', '')
  const isId = idDigits.test(digits)
  const [byId, people, byName, keys] = await Promise.all([
    isId ? findById(db, organizationId, digits) : [],
    isAtLeast('operator') ? findPeople(db, organizationId, q) : [],
    findByName(db, organizationId, q),
    isAtLeast('admin') ? findKeys(db, organizationId, q) : [],
  ])
  const readable = byId.filter(({ kind }) => kind !== 'key' || isAtLeast('admin'))
  const all = new Map(
    [...readable, ...people, ...byName, ...keys].map((row) => [`${row.kind} ${row.id}`, row]),
  )
  return { data: [...all.values()].slice(0, maxFound).map(shown) }
}

const nothing = { call_id: null, name: null, contact_name: null, phone_number: null, status: null }

const findPeople = async (
  db: Queryable,
  organizationId: OrganizationId,
  question: string,
): Promise<FoundRow[]> => {
  const rows = await findContacts(db, organizationId, question, maxContacts)
  return rows.map(({ id, name, phone_number }) => ({
    ...nothing,
    kind: 'contact',
    id,
    name,
    phone_number,
  }))
}

/** By the name, or by what lists show of the secret. */
const findKeys = async (
  db: Queryable,
  organizationId: OrganizationId,
  text: string,
): Promise<FoundRow[]> => {
  const rows = await listApiKeyRows(db, organizationId)
  const asked = text.toLowerCase()
  const fits = rows.filter(
    ({ name, prefix, last_four: lastFour }) =>
      name.toLowerCase().includes(asked) || lastFour === text || prefix === text,
  )
  return fits.slice(0, maxKeys).map(({ id, name }) => ({ ...nothing, kind: 'key', id, name }))
}

const shown = ({ kind, id, call_id, name, contact_name, phone_number, status }: FoundRow) => ({
  kind,
  id,
  ...(call_id !== null && { call_id }),
  ...(name !== null && { name }),
  ...(contact_name !== null && { contact_name }),
  ...(phone_number !== null && { phone_number }),
  ...(status !== null && { status }),
})
