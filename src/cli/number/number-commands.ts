import type { Command } from 'commander'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Transaction } from '../../database/database.ts'
import { commandLine } from '../../domains/audit/command-line.ts'
import {
  addNumber,
  changeNumber,
  listNumbers,
  removeNumber,
  restNumber,
  resumeNumber,
  showNumber,
} from '../../domains/numbers/edit-numbers.ts'
import { noteNumberChange } from '../../domains/numbers/note-number-change.ts'
import type { ShownNumber } from '../../domains/numbers/number-resource.ts'
import type { NumberInput } from '../../domains/numbers/number-settings.ts'
import { checkPhoneNumber } from '../../domains/organizations/do-not-call.ts'
import type { CliContext } from '../cli-context.ts'
import { parseWholeNumber } from '../option-values.ts'
import {
  requireOrganization,
  withOrganization,
  type OrganizationOption,
} from '../require-organization.ts'
import { show, type OutputOptions } from '../terminal/output.ts'
import { table } from '../terminal/table.ts'
import { describeNumber, numberColumns, numberRow } from './describe-number.ts'

type NumberCommandOptions = OutputOptions & OrganizationOption

interface SettingOptions extends NumberCommandOptions {
  readonly trunk?: string
  readonly callsPerDay?: number | 'none'
  readonly restWhenFlagged?: boolean
}

interface RestOptions extends NumberCommandOptions {
  readonly hours?: number
  readonly reason?: string
}

/** `outdial number add|list|set|rest|resume|remove`: the numbers that callees of an organization see. */
export const addNumberCommands = (program: Command, context: CliContext): void => {
  const number = program.command('number').description('caller IDs: the numbers that callees see')
  addAddCommand(number, context)
  addListCommand(number, context)
  addSetCommand(number, context)
  addRestCommands(number, context)
  addRemoveCommand(number, context)
}

const withOrg = (command: Command): Command =>
  withOrganization(command).option('--json', 'print JSON')

const numberOrNone = (text: string): number | 'none' =>
  text === 'none' ? 'none' : parseWholeNumber(text)

const withSettings = (command: Command): Command =>
  withOrg(command)
    .option('--trunk <name>', 'show it on this trunk only; any for every trunk')
    .option('--calls-per-day <n>', 'calls a day at most, or none for no limit', numberOrNone)
    .option('--rest-when-flagged', 'let it rest for a day when calls from it are refused as spam')

const addAddCommand = (number: Command, context: CliContext): void => {
  withSettings(
    number
      .command('add')
      .description('let an organization call from a number')
      .argument('<number>', 'E.164, such as +12125550123'),
  ).action(async (phoneNumber: string, options: SettingOptions) => {
    const added = await changing(context, options, async (tx, organizationId) => {
      const after = await addNumber(tx, organizationId, phoneNumber, settingsOf(options))
      await noteNumberChange(tx, commandLine(), organizationId, 'add', { after })
      return after
    })
    show(context, options, added, (width) => describeNumber(added, width))
  })
}

const addListCommand = (number: Command, context: CliContext): void => {
  withOrg(
    number.command('list').description('list the numbers of an organization and how they are'),
  ).action(async (options: NumberCommandOptions) => {
    const numbers = await context.withDatabase(async (db) =>
      listNumbers(db, (await requireOrganization(db, options.org)).id),
    )
    show(context, options, numbers, (width) =>
      table(
        numberColumns,
        numbers.map(numberRow),
        'There is no number: callees of a live organization see OUTDIAL_CALLER_ID.',
        width,
      ),
    )
  })
}

const addSetCommand = (number: Command, context: CliContext): void => {
  withSettings(
    number
      .command('set')
      .description('change a number while calls go on; what is not given stays')
      .argument('<number>')
      .option('--no-rest-when-flagged', 'let it rest only by command'),
  ).action(async (phoneNumber: string, options: SettingOptions) => {
    const changed = await editing(context, options, 'change', phoneNumber, (tx, organizationId) =>
      changeNumber(tx, organizationId, phoneNumber, settingsOf(options)),
    )
    show(context, options, changed, (width) => describeNumber(changed, width))
  })
}

const addRestCommands = (number: Command, context: CliContext): void => {
  withOrg(
    number
      .command('rest')
      .description('show a number to no callee for a while; live calls go on')
      .argument('<number>')
      .option('--hours <n>', 'for so long; without it until number resume', parseWholeNumber)
      .option('--reason <sentence>', 'why, for those who look at it later'),
  ).action(async (phoneNumber: string, options: RestOptions) => {
    const { hours, reason } = options
    const until = hours === undefined ? undefined : new Date(Date.now() + hours * 3_600_000)
    const rested = await editing(context, options, 'rest', phoneNumber, (tx, organizationId) =>
      restNumber(tx, organizationId, phoneNumber, { until, reason }),
    )
    show(context, options, rested, (width) => describeNumber(rested, width))
  })
  withOrg(
    number.command('resume').description('use a resting number again').argument('<number>'),
  ).action(async (phoneNumber: string, options: NumberCommandOptions) => {
    const resumed = await editing(context, options, 'resume', phoneNumber, (tx, organizationId) =>
      resumeNumber(tx, organizationId, phoneNumber),
    )
    show(context, options, resumed, (width) => describeNumber(resumed, width))
  })
}

const addRemoveCommand = (number: Command, context: CliContext): void => {
  withOrg(
    number
      .command('remove')
      .description('take a number away from an organization; live calls go on')
      .argument('<number>'),
  ).action(async (phoneNumber: string, options: NumberCommandOptions) => {
    const removed = await changing(context, options, async (tx, organizationId) => {
      const before = await removeNumber(tx, organizationId, phoneNumber)
      await noteNumberChange(tx, commandLine(), organizationId, 'remove', { before })
      return before
    })
    show(context, options, removed, () => [`The number ${removed.phone_number} is removed.`])
  })
}

type Work = (tx: Transaction, organizationId: OrganizationId) => Promise<ShownNumber>

const changing = (
  context: CliContext,
  { org }: OrganizationOption,
  work: Work,
): Promise<ShownNumber> =>
  context.withDatabase(async (db) => {
    const { id } = await requireOrganization(db, org)
    return db.transaction((tx) => work(tx, id))
  })

const editing = (
  context: CliContext,
  options: OrganizationOption,
  action: 'change' | 'rest' | 'resume',
  phoneNumber: string,
  work: Work,
): Promise<ShownNumber> =>
  changing(context, options, async (tx, organizationId) => {
    const before = await showNumber(tx, organizationId, checkPhoneNumber(phoneNumber))
    const after = await work(tx, organizationId)
    await noteNumberChange(tx, commandLine(), organizationId, action, { before, after })
    return after
  })

/** What was given. */
const settingsOf = ({ trunk, callsPerDay, restWhenFlagged }: SettingOptions): NumberInput => ({
  ...(trunk !== undefined && { trunk: trunk === 'any' ? null : trunk }),
  ...(callsPerDay !== undefined && { calls_per_day: callsPerDay === 'none' ? null : callsPerDay }),
  ...(restWhenFlagged !== undefined && { rest_when_flagged: restWhenFlagged }),
})
