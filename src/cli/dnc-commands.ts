import type { Command } from 'commander'
import {
  addDoNotCall,
  checkPhoneNumber,
  listDoNotCall,
  maskedNumber,
  removeDoNotCall,
  type DoNotCallEntry,
} from '../domains/organizations/do-not-call.ts'
import { OperatorError } from '../domains/organizations/operator-error.ts'
import type { Database, Transaction } from '../database/database.ts'
import type { CliContext } from './cli-context.ts'
import { noteChange } from './note-change.ts'
import {
  requireOrganization,
  withOrganization,
  type OrganizationOption,
} from './require-organization.ts'
import { show, type OutputOptions } from './terminal/output.ts'
import { table } from './terminal/table.ts'
import type { OrganizationId } from '../contract/organization-id.ts'

type DncOptions = OutputOptions & OrganizationOption

/** `outdial dnc add|remove|list`: the do-not-call list. */
export const addDncCommands = (program: Command, context: CliContext): void => {
  const dnc = program.command('dnc').description('the do-not-call list')
  const withOrg = (command: Command): Command =>
    withOrganization(command).option('--json', 'print JSON')

  withOrg(dnc.command('add').description('never call a number').argument('<number>')).action(
    async (number: string, options: DncOptions) => {
      const phoneNumber = checkPhoneNumber(number)
      await context.withDatabase(async (db) => {
        const organization = await requireOrganization(db, options.org)
        await db.transaction(async (tx) => {
          await addDoNotCall(tx, organization.id, phoneNumber)
          await noteNumber(tx, organization.id, 'add', phoneNumber)
        })
      })
      show(context, options, { phone_number: phoneNumber }, () => `${phoneNumber} is not called.`)
    },
  )
  withOrg(dnc.command('remove').description('allow a number again').argument('<number>')).action(
    async (number: string, options: DncOptions) => {
      const phoneNumber = checkPhoneNumber(number)
      await context.withDatabase(async (db) => {
        const organization = await requireOrganization(db, options.org)
        await db.transaction(async (tx) => {
          if (!(await removeDoNotCall(tx, organization.id, phoneNumber)))
            throw new OperatorError(`${phoneNumber} is not on the do-not-call list.`)
          await noteNumber(tx, organization.id, 'remove', phoneNumber)
        })
      })
      show(context, options, { phone_number: phoneNumber }, () => `${phoneNumber} may be called.`)
    },
  )
  withOrg(dnc.command('list').description('list the numbers')).action(
    async (options: DncOptions) => {
      const entries = await context.withDatabase(async (db) => {
        const organization = await requireOrganization(db, options.org)
        return wholeList(db, organization.id)
      })
      show(context, options, entries, (width) =>
        table(
          ['NUMBER', 'BY', 'SINCE'],
          entries.map((entry) => [entry.phone_number, entry.origin, entry.created_at]),
          'The list is empty.',
          width,
        ),
      )
    },
  )
}

/** The audit log outlives the list, so that it keeps no whole number. */
const noteNumber = (
  tx: Transaction,
  organizationId: OrganizationId,
  verb: 'add' | 'remove',
  phoneNumber: string,
): Promise<void> =>
  noteChange(tx, {
    organizationId,
    action: `do_not_call.${verb}`,
    target: { type: 'do_not_call', id: null },
    [verb === 'add' ? 'after' : 'before']: { phone_number: maskedNumber(phoneNumber) },
  })

const wholeList = async (
  db: Database,
  organizationId: OrganizationId,
): Promise<DoNotCallEntry[]> => {
  const entries: DoNotCallEntry[] = []
  for (;;) {
    const page = await listDoNotCall(db, organizationId, entries.at(-1)?.phone_number)
    if (page.length === 0) return entries
    entries.push(...page)
  }
}
