import type { Command } from 'commander'
import type { PersonInput } from '../../domains/contacts/person-input.ts'
import type { Database } from '../../database/database.ts'
import { contactResource } from '../../domains/contacts/contact-resource.ts'
import {
  findContact,
  listContactRows,
  type ContactRow,
} from '../../domains/contacts/contact-store.ts'
import { upsertRecipients } from '../../domains/contacts/upsert-recipients.ts'
import { OperatorError } from '../../domains/organizations/operator-error.ts'
import { programPath } from '../../runtime/program-path.ts'
import type { CliContext } from '../cli-context.ts'
import {
  acceptedInputs,
  readContactFile,
  showCheck,
  withContactFileOptions,
  type ContactFileOptions,
} from './contact-file.ts'
import { readPages, showList, withListOptions, type ListOptions } from '../list-options.ts'
import { facts, show, type OutputOptions } from '../terminal/output.ts'
import { readTextFile } from '../read-file.ts'
import {
  requireOrganization,
  requireOwner,
  withOrganization,
  type OrganizationOption,
} from '../require-organization.ts'
import { plural } from '../../runtime/plural.ts'

interface ContactListOptions extends ListOptions {
  readonly externalId?: string
  readonly source?: string
}

type ImportOptions = ContactFileOptions & OrganizationOption

/** `outdial contact list|show|import`. */
export const addContactListCommands = (contact: Command, context: CliContext): void => {
  withListOptions(contact.command('list').description('contacts, newest first'))
    .option('--external-id <id>', 'only those with this external identity')
    .option('--source <source>', 'only those of this source')
    .action(async (options: ContactListOptions) => {
      const rows = await context.withDatabase((db) => listContacts(db, options))
      showList(context, options, {
        resources: rows.map(contactResource),
        heading: ['ID', 'NUMBER', 'EXTERNAL ID', 'NAME'],
        rows: rows.map((row) => [row.id, row.phone_number, row.external_id ?? '', row.name]),
        whenEmpty: `No contact to list: ${programPath()} contact import FILE.csv makes some.`,
      })
    })
  withOrganization(
    contact.command('show').description('a contact with all its fields').argument('<id>'),
    'contact',
  )
    .option('--json', 'print JSON')
    .action(async (id: string, options: OutputOptions & OrganizationOption) => {
      const row = await context.withDatabase(async (db) => {
        const found = await findContact(db, await requireOwner(db, options, 'contact', id), id)
        if (!found) throw new OperatorError(`The organization has no contact ${id}.`)
        return found
      })
      const shown = contactResource(row)
      show(context, options, shown, (width) => facts(Object.entries(shown), width))
    })
  withContactFileOptions(
    withOrganization(
      contact
        .command('import')
        .description('create and update the contacts of a CSV file; all of it, or nothing')
        .argument(
          '<file>',
          'CSV with a heading: external_id, name, phone_number, and other fields',
        ),
    ),
  ).action(async (file: string, options: ImportOptions) => {
    const text = readTextFile(file)
    await context.withDatabase((db) => importContacts(db, context, text, options))
  })
}

const listContacts = async (
  db: Database,
  { org, limit, externalId, source }: ContactListOptions,
): Promise<ContactRow[]> => {
  const { id: organizationId } = await requireOrganization(db, org)
  return readPages(limit, (size, cursor: Parameters<typeof listContactRows>[1]['cursor']) =>
    listContactRows(db, {
      organizationId,
      limit: size,
      cursor,
      filters: { external_id: externalId, source },
    }),
  )
}

/** Rows per statement. */
const maxPart = 1_000

const importContacts = async (
  db: Database,
  context: CliContext,
  text: string,
  options: ImportOptions,
): Promise<void> => {
  const { id: organizationId } = await requireOrganization(db, options.org)
  const contacts = await readContactFile(db, organizationId, text, { country: options.country })
  if (options.check) return showCheck(context, options, contacts)
  const inputs = acceptedInputs(context, contacts, options)
  await db.transaction(async (tx) => {
    for (const part of partsOf(inputs)) await upsertRecipients(tx, organizationId, part)
  })
  const { known } = contacts
  const told = { contacts: inputs.length, new: inputs.length - known, updated: known }
  show(
    context,
    options,
    told,
    () => `${plural(inputs.length, 'contact')}: ${told.new} new, ${known} updated.`,
  )
}

const partsOf = (inputs: readonly PersonInput[]): (readonly PersonInput[])[] =>
  Array.from({ length: Math.ceil(inputs.length / maxPart) }, (_, index) =>
    inputs.slice(index * maxPart, (index + 1) * maxPart),
  )
