import { InvalidArgumentError, Option, type Command } from 'commander'
import type { Queryable } from '../database/database.ts'
import { hasTrunk } from '../domains/calls/dispatchers.ts'
import { createOrganization } from '../domains/organizations/create-organization.ts'
import { listOrganizations } from '../domains/organizations/list-organizations.ts'
import {
  organizationModes,
  type OrganizationMode,
} from '../domains/organizations/organization-mode.ts'
import type { Organization } from '../domains/organizations/organization-resource.ts'
import {
  recordingChoices,
  type RecordingChoice,
} from '../domains/organizations/recording-choice.ts'
import { setOrganization } from '../domains/organizations/set-organization.ts'
import {
  showOrganization,
  type ShownOrganization,
} from '../domains/organizations/show-organization.ts'
import { programPath } from '../runtime/program-path.ts'
import type { CliContext } from './cli-context.ts'
import { noteChange } from './note-change.ts'
import {
  collectQuotas,
  collectRates,
  parseWholeNumber,
  type QuotaOption,
  type RateOption,
} from './option-values.ts'
import { facts, show, type Lines, type OutputOptions } from './terminal/output.ts'
import { readJsonFile } from './read-file.ts'
import { table } from './terminal/table.ts'

interface CreateOptions extends ChangeOptions {
  readonly name: string
  readonly mode?: OrganizationMode
}

interface ChangeOptions extends OutputOptions {
  readonly concurrency?: number
  readonly policy?: string
}

/** `outdial org create|list|show|set`. */
export const addOrgCommands = (program: Command, context: CliContext): void => {
  const org = program.command('org').description('organizations')
  addCreateCommand(org, context)
  addListCommand(org, context)
  addShowCommand(org, context)
  addSetCommand(org, context)
}

const addCreateCommand = (org: Command, context: CliContext): void => {
  org
    .command('create')
    .description('make an organization')
    .requiredOption('--name <name>', 'its name')
    .addOption(
      new Option(
        '--mode <mode>',
        'whether its calls go to the sandbox carrier or to phones, for good; live where a trunk is configured',
      ).choices(organizationModes),
    )
    .option('--concurrency <calls>', 'calls that may be live at once', parseWholeNumber)
    .option('--policy <file>', 'calling policy (JSON)')
    .option('--json', 'print JSON')
    .action(async (options: CreateOptions) => {
      const organization = await context.withDatabase(
        async (db) =>
          createOrganization(db, {
            name: options.name,
            mode: options.mode ?? (await defaultMode(db, context)),
            ...changes(options),
          }),
        'may create',
      )
      show(context, options, organization, (width) => describe(organization, width))
    })
}

const addListCommand = (org: Command, context: CliContext): void => {
  org
    .command('list')
    .description('list organizations')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions) => {
      const organizations = await context.withDatabase(listOrganizations)
      show(context, options, organizations, (width) =>
        table(
          ['ID', 'NAME', 'MODE', 'CONCURRENCY', 'API'],
          organizations.map((each) => [
            each.id,
            each.name,
            modeOf(each),
            String(each.concurrency),
            each.public_api_enabled ? 'on' : 'off',
          ]),
          `There is no organization yet: ${programPath()} org create --name NAME`,
          width,
        ),
      )
    })
}

const addShowCommand = (org: Command, context: CliContext): void => {
  org
    .command('show')
    .description('show what was set for an organization')
    .argument('<org>', 'its id')
    .option('--json', 'print JSON')
    .action(async (id: string, options: OutputOptions) => {
      const organization = await context.withDatabase((db) => showOrganization(db, id))
      show(context, options, organization, (width) => describeAll(organization, width))
    })
}

const addSetCommand = (org: Command, context: CliContext): void => {
  org
    .command('set')
    .description('change an organization')
    .argument('<org>', 'its id')
    .addOption(new Option('--public-api <state>', 'API access').choices(['on', 'off']))
    .option('--concurrency <calls>', 'calls that may be live at once', parseWholeNumber)
    .option('--policy <file>', 'calling policy (JSON)')
    .option('--rate <bucket=n>', 'requests a minute of a bucket (repeatable)', collectRates)
    .option(
      '--quota <name=n>',
      'what it may keep: contacts, batches, recipients, idempotency_answers (repeatable)',
      collectQuotas,
    )
    .option(
      '--retention-days <n>',
      'days that recordings, transcripts and summaries are kept, or off',
      daysOrOff,
    )
    .addOption(
      new Option(
        '--recording <choice>',
        'whether its calls are recorded; never wins over the agents, and transcripts are written either way',
      ).choices(recordingChoices),
    )
    .option(
      '--calls-back <answer>',
      'what people get who call its numbers: decline[:480|486|603], message:TEXT, forward:NUMBER, or "" for what OUTDIAL_CALLS_BACK says',
    )
    .option('--json', 'print JSON')
    .action(
      async (
        id: string,
        options: ChangeOptions &
          RateOption &
          QuotaOption & {
            readonly publicApi?: 'on' | 'off'
            readonly retentionDays?: number
            readonly recording?: RecordingChoice
            readonly callsBack?: string
          },
      ) => {
        const input = {
          ...changes(options),
          ...(options.publicApi && { publicApiEnabled: options.publicApi === 'on' }),
          ...(options.rate && { rateLimits: options.rate }),
          ...(options.quota && { quotas: options.quota }),
          ...(options.retentionDays !== undefined && { retentionDays: options.retentionDays }),
          ...(options.recording && { recording: options.recording }),
          ...(options.callsBack !== undefined && { callsBack: options.callsBack }),
        }
        const organization = await context.withDatabase((db) =>
          db.transaction(async (tx) => {
            const before = await showOrganization(tx, id)
            const changed = await setOrganization(tx, id, input)
            const after = await showOrganization(tx, id)
            await noteChange(tx, {
              organizationId: changed.id,
              action: 'organization.change',
              target: { type: 'organization', id },
              before,
              after,
            })
            return changed
          }),
        )
        show(context, options, organization, (width) => describe(organization, width))
      },
    )
}

/** A typing error must not turn deletion off or on: only the exact word does. */
const daysOrOff = (text: string): number => {
  if (text === 'off') return 0
  const days = parseWholeNumber(text)
  if (days === 0) throw new InvalidArgumentError('It must be a whole number from 1, or off.')
  return days
}

const changes = ({ concurrency, policy }: ChangeOptions) => ({
  ...(concurrency !== undefined && { concurrency }),
  ...(policy !== undefined && { policy: readJsonFile(policy) }),
})

const describe = (organization: Organization, width?: number, rates?: string): Lines =>
  facts(
    [
      ['id', organization.id],
      ['name', organization.name],
      ['mode', modeOf(organization)],
      ['version', organization.default_version],
      ['API', organization.public_api_enabled ? 'on' : 'off'],
      ['concurrency', String(organization.concurrency)],
      ['records', organization.recording ?? 'always'],
      ['keeps for', retentionOf(organization)],
      ['calls back', organization.calls_back],
      ['rates', rates],
    ],
    width,
  )

/** Everything, with the policy in the file format of `--policy`. */
const describeAll = (organization: ShownOrganization, width?: number): Lines => [
  ...describe(organization, width, ratesOf(organization)),
  '',
  'policy',
  ...JSON.stringify(organization.policy, undefined, 2).split('\n'),
]

const ratesOf = ({ rates }: ShownOrganization): string => {
  const set = Object.entries(rates).map(([bucket, rate]) => `${bucket}=${rate}`)
  return set.length === 0 ? 'the defaults' : set.join(' ')
}

/** Undecided: created by a version without modes, and not started since. */
const modeOf = ({ mode }: Organization): string => mode ?? 'decided by the next start'

const defaultMode = async (db: Queryable, { config }: CliContext): Promise<OrganizationMode> =>
  config.sip.trunk !== undefined || (await hasTrunk(db)) ? 'live' : 'sandbox'

const retentionOf = ({ retention_days: days }: Organization): string =>
  days === undefined ? 'good' : `${days} ${days === 1 ? 'day' : 'days'}`
