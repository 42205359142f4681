import { Option, type Command } from 'commander'
import type { Automation } from '../../contract/automations.ts'
import type { Database } from '../../database/database.ts'
import { checkAutomationOf } from '../../domains/automations/agent-problems.ts'
import { automationResource } from '../../domains/automations/automation-resource.ts'
import { listAllAutomations } from '../../domains/automations/automation-store.ts'
import { checkAutomationFile } from '../../domains/automations/definition-problems.ts'
import { drawDefinition } from '../../domains/automations/draw-definition.ts'
import { publishAutomation } from '../../domains/automations/publish-automation.ts'
import { setAutomationStatus } from '../../domains/automations/set-automation-status.ts'
import { showAutomation } from '../../domains/automations/show-automation.ts'
import { programPath } from '../../runtime/program-path.ts'
import { addAutomationRunCommands } from './automation-run.ts'
import { addSimulateCommand } from './automation-simulate.ts'
import type { CliContext } from '../cli-context.ts'
import { facts, show, type Lines, type OutputOptions } from '../terminal/output.ts'
import { readJsonFile } from '../read-file.ts'
import {
  requireOrganization,
  requireOwner,
  withOrganization,
  type OrganizationOption,
} from '../require-organization.ts'
import { table } from '../terminal/table.ts'

interface PublishCommandOptions extends OutputOptions, OrganizationOption {
  readonly file: string
  readonly id?: string
  readonly draft?: true
}

/** `outdial automation …`. */
export const addAutomationCommands = (program: Command, context: CliContext): void => {
  const automation = program
    .command('automation')
    .description('Automations: calls, waits and branches for one contact at a time')
  addPublishCommand(automation, context)
  addValidateCommand(automation, context)
  addSimulateCommand(automation, context)
  addListCommand(automation, context)
  addShowCommand(automation, context)
  addStatusCommand(automation, context, 'pause', 'paused', 'take no runs, and hold those under way')
  addStatusCommand(automation, context, 'resume', 'active', 'take runs, and let held ones go on')
  addStatusCommand(automation, context, 'archive', 'archived', 'end it for good; its runs fail')
  addAutomationRunCommands(automation, context)
}

const addPublishCommand = (automation: Command, context: CliContext): void => {
  withOrganization(automation.command('publish').description('publish an Automation from its file'))
    .requiredOption('--file <file>', 'Automation file (JSON)')
    .option('--id <id>', 'as the next version of this Automation; runs under way keep theirs')
    .addOption(
      new Option(
        '--draft',
        'a new one, without taking runs yet; `resume` makes it active',
      ).conflicts('id'),
    )
    .option('--json', 'print JSON')
    .action(async (options: PublishCommandOptions) => {
      const file = readJsonFile(options.file)
      const made = await context.withDatabase(async (db) => {
        const organizationId =
          options.id === undefined
            ? (await requireOrganization(db, options.org)).id
            : await requireOwner(db, options, 'Automation', options.id)
        return publishAutomation(db, organizationId, file, {
          ...(options.id !== undefined && { automationId: options.id }),
          isDraft: options.draft ?? false,
        })
      })
      show(context, options, made, (width) => describe(made, width))
    })
}

const describe = (
  { id, name, status, version }: Automation & { readonly version?: number },
  width?: number,
): Lines =>
  facts(
    [
      ['id', id],
      ['name', name],
      ['status', status],
      ['version', version === undefined ? undefined : String(version)],
    ],
    width,
  )

const addValidateCommand = (automation: Command, context: CliContext): void => {
  automation
    .command('validate')
    .description('check an Automation file without publishing it')
    .requiredOption('--file <file>', 'Automation file (JSON)')
    .option('--org <org>', 'organization id: checks its agents too')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions & { file: string; org?: string }) => {
      const file = readJsonFile(options.file)
      const { org } = options
      const { name, definition } =
        org === undefined
          ? checkAutomationFile(file)
          : await context.withDatabase(async (db) => {
              const { id } = await requireOrganization(db, org)
              return checkAutomationOf(db, id, file)
            })
      const steps = Object.keys(definition.steps).length
      show(
        context,
        options,
        { name, valid: true, steps },
        () => `${name}: ${steps} steps, no problem.`,
      )
    })
}

const addListCommand = (automation: Command, context: CliContext): void => {
  automation
    .command('list')
    .description('list Automations')
    .option('--org <org>', 'of one organization only')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions & { org?: string }) => {
      const all = await context.withDatabase(async (db) => {
        if (options.org !== undefined) await requireOrganization(db, options.org)
        return (await listAllAutomations(db, options.org)).map(automationResource)
      })
      show(context, options, all, (width) =>
        table(
          ['ID', 'NAME', 'STATUS'],
          all.map(({ id, name, status }) => [id, name, status]),
          `There is no Automation yet: ${programPath()} automation publish --org ORG --file FILE`,
          width,
        ),
      )
    })
}

const addShowCommand = (automation: Command, context: CliContext): void => {
  automation
    .command('show')
    .description('show what an Automation does, as a Mermaid drawing')
    .argument('<id>')
    .option('--json', 'print JSON: its definition, version and drawing')
    .action(async (id: string, options: OutputOptions) => {
      const shown = await context.withDatabase((db: Database) => showAutomation(db, id))
      const drawing = drawDefinition(shown.definition)
      show(context, options, { ...shown, drawing }, (width) => [
        ...describe(shown, width),
        '',
        ...drawing.split('\n'),
      ])
    })
}

const addStatusCommand = (
  automation: Command,
  context: CliContext,
  verb: string,
  status: 'active' | 'paused' | 'archived',
  description: string,
): void => {
  automation
    .command(verb)
    .description(description)
    .argument('<id>')
    .option('--json', 'print JSON')
    .action(async (id: string, options: OutputOptions) => {
      const changed = await context.withDatabase((db) =>
        db.transaction((tx) => setAutomationStatus(tx, id, status)),
      )
      show(context, options, changed, () => `Automation ${changed.name} is ${changed.status}.`)
    })
}
