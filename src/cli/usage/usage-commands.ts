import { InvalidArgumentError, Option, type Command } from 'commander'
import { findPrices, setPrices, type CallPrices } from '../../domains/results/call-prices.ts'
import {
  readUsage,
  usageGroupings,
  type Usage,
  type UsageGrouping,
} from '../../domains/results/daily-usage.ts'
import { usageTable } from '../../domains/results/usage-table.ts'
import { UsageError, type CliContext } from '../cli-context.ts'
import { csvOf } from '../list-options.ts'
import { noteChange } from '../note-change.ts'
import {
  requireOrganization,
  withOrganization,
  type OrganizationOption,
} from '../require-organization.ts'
import { facts, show, tellCsv, type OutputOptions } from '../terminal/output.ts'
import { table } from '../terminal/table.ts'

interface UsageOptions extends OutputOptions, OrganizationOption {
  readonly by: UsageGrouping
  readonly from?: string
  readonly to?: string
  readonly csv?: true
}

interface PriceOptions extends OutputOptions, OrganizationOption {
  readonly currency?: string
  readonly perCall?: number
  readonly perMinute?: number
  readonly off?: true
}

/** `outdial usage` and `outdial usage prices`. */
export const addUsageCommands = (program: Command, context: CliContext): void => {
  const usage = withOrganization(program.command('usage'))
    .description('calls, minutes and cost by day, agent or key')
    .addOption(
      new Option('--by <grouping>', 'what is added up').choices(usageGroupings).default('day'),
    )
    .option('--from <day>', 'first day, such as 2026-11-01; by default 30 days are shown')
    .option('--to <day>', 'last day; by default today in the organization’s zone')
    .option('--csv', 'print CSV, safe for spreadsheets')
    .option('--json', 'print JSON')
    .action(async (options: UsageOptions) => {
      if (options.csv && options.json) throw new UsageError('Choose one of --csv and --json.')
      const { by, from, to } = options
      const used = await context.withDatabase(async (db) =>
        readUsage(db, (await requireOrganization(db, options.org)).id, by, { from, to }),
      )
      if (options.csv) return tellCsv(context, csvOf(resourcesOf(used)))
      show(context, options, used, (width) => {
        const { heading, rows } = usageTable(used)
        const shown = used.data.length === 0 ? [] : rows
        const names = heading.map((name) => name.replaceAll('_', ' ').toUpperCase())
        return table(names, shown, `No call was dialled from ${used.from} to ${used.to}.`, width)
      })
    })
  addPricesCommand(usage, context)
}

const resourcesOf = (used: Usage): Record<string, string>[] => {
  const { heading, rows } = usageTable(used)
  return rows.map((row) => Object.fromEntries(heading.map((name, at) => [name, row[at] ?? ''])))
}

const addPricesCommand = (usage: Command, context: CliContext): void => {
  withOrganization(usage.command('prices'))
    .description('show or set what the organization pays for its calls')
    .option('--currency <code>', 'ISO 4217, such as EUR')
    .option('--per-call <price>', 'for each dialled call', parsePrice)
    .option(
      '--per-minute <price>',
      'for each minute of a connected call, by the second',
      parsePrice,
    )
    .option('--off', 'forget the prices: no cost is shown')
    .option('--json', 'print JSON')
    .action(async (_own: object, command: Command) => {
      // `--org` and `--json` are options of the command above, too.
      const options = command.optsWithGlobals<PriceOptions>()
      const prices = await context.withDatabase(async (db) => {
        const { id } = await requireOrganization(db, options.org)
        const before = await findPrices(db, id)
        const wanted = wantedPrices(options, before)
        if (wanted === 'as they are') return before
        await db.transaction(async (tx) => {
          await setPrices(tx, id, wanted)
          await noteChange(tx, {
            organizationId: id,
            action: 'call_prices.change',
            target: { type: 'organization', id },
            ...(before && { before }),
            ...(wanted && { after: wanted }),
          })
        })
        return findPrices(db, id)
      })
      show(context, options, prices ?? null, (width) =>
        prices
          ? facts(
              [
                ['currency', prices.currency],
                ['per call', String(prices.per_call)],
                ['per minute', String(prices.per_minute)],
              ],
              width,
            )
          : 'There are no prices, so no cost is shown.',
      )
    })
}

const wantedPrices = (
  { off, currency, perCall, perMinute }: PriceOptions,
  before: CallPrices | undefined,
): CallPrices | undefined | 'as they are' => {
  if (off) return undefined
  if (currency === undefined && perCall === undefined && perMinute === undefined)
    return 'as they are'
  const known = currency ?? before?.currency
  if (known === undefined) throw new UsageError('Name the currency of the prices by --currency.')
  return {
    currency: known,
    per_call: perCall ?? before?.per_call ?? 0,
    per_minute: perMinute ?? before?.per_minute ?? 0,
  }
}

const parsePrice = (text: string): number => {
  if (!/^\d{1,5}(?:\.\d{1,6})?$/.test(text))
    throw new InvalidArgumentError('It must be a price such as 0.014.')
  return Number(text)
}
