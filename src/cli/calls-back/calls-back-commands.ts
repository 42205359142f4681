import type { Command } from 'commander'
import { callBackResource } from '../../domains/calls-back/call-back-resource.ts'
import { listCallsBack, listUnownedCallsBack } from '../../domains/calls-back/calls-back-store.ts'
import type { CliContext } from '../cli-context.ts'
import { showList, withListOptions, type ListOptions } from '../list-options.ts'
import { requireOrganization } from '../require-organization.ts'

interface CallsBackOptions extends ListOptions {
  readonly unowned?: true
}

/** `outdial calls-back list`. */
export const addCallsBackCommands = (program: Command, context: CliContext): void => {
  const callsBack = program.command('calls-back').description('calls of people to our numbers')
  withListOptions(
    callsBack.command('list').description('who called one of our numbers, and what was done'),
  )
    .option('--unowned', 'those to numbers of no organization, or of several')
    .action(async (options: CallsBackOptions) => {
      const rows = await context.withDatabase(async (db) => {
        if (options.unowned) return listUnownedCallsBack(db, options.limit)
        const { id } = await requireOrganization(db, options.org)
        return listCallsBack(db, id, options.limit)
      })
      const resources = rows.map(callBackResource)
      showList(context, options, {
        resources,
        heading: ['AT', 'NUMBER', 'CALLED', 'TRUNK', 'RESULT', 'SIP', 'LASTED', 'REASON'],
        rows: resources.map((each) => [
          each.at,
          each.phone_number ?? 'withheld',
          each.called_number,
          each.trunk,
          each.result,
          each.sip_status === null ? '' : String(each.sip_status),
          each.seconds === null ? '' : `${each.seconds} s`,
          each.reason ?? '',
        ]),
        whenEmpty: 'Nobody has called one of the numbers in the last 90 days.',
      })
    })
}
