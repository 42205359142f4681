import type { Command } from 'commander'
import { archiveAgent } from '../../domains/agents/archive-agent.ts'
import { createAgent } from '../../domains/agents/create-agent.ts'
import { publishAgent } from '../../domains/agents/publish-agent.ts'
import { agentResource } from '../../domains/agents/agent-resource.ts'
import { findAgent, listAllAgents } from '../../domains/agents/agent-store.ts'
import { exportAgent, showAgent } from '../../domains/agents/show-agent.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Queryable } from '../../database/database.ts'
import { commandLine } from '../../domains/audit/command-line.ts'
import { recordChange, type Change } from '../../domains/audit/record-change.ts'
import { createSecretBox, type SecretBox } from '../../domains/organizations/secret-box.ts'
import { missingEngine } from '../../operator/missing-engine.ts'
import { programPath } from '../../runtime/program-path.ts'
import type { CliContext } from '../cli-context.ts'
import { describeAgent } from './describe-agent.ts'
import { facts, show, warn, type OutputOptions } from '../terminal/output.ts'
import { readJsonFile } from '../read-file.ts'
import {
  requireOrganization,
  requireOwner,
  withOrganization,
  type OrganizationOption,
} from '../require-organization.ts'
import { table } from '../terminal/table.ts'

const boxOf = ({ config }: CliContext): SecretBox =>
  createSecretBox({ ...config.program, ...config.store })

/** `outdial agent create|publish|list|show|export|archive`. */
export const addAgentCommands = (program: Command, context: CliContext): void => {
  const agent = program.command('agent').description('AI voice agents')
  addCreateCommand(agent, context)
  addPublishCommand(agent, context)
  addListCommand(agent, context)
  addShowCommand(agent, context)
  addExportCommand(agent, context)
  addArchiveCommand(agent, context)
}

const addCreateCommand = (agent: Command, context: CliContext): void => {
  withOrganization(agent.command('create').description('publish an agent from its file'))
    .requiredOption('--file <file>', 'agent file (JSON)')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions & OrganizationOption & { file: string }) => {
      const file = readJsonFile(options.file)
      const { made, problem } = await context.withDatabase(async (db) => {
        const { id: organizationId } = await requireOrganization(db, options.org)
        const made = await db.transaction(async (tx) => {
          const created = await createAgent(tx, organizationId, file)
          await recordAgentChange(tx, organizationId, {
            action: 'agent.create',
            id: created.id,
            after: { name: created.name, version: 1 },
          })
          return created
        })
        return {
          made,
          problem: await missingEngine(
            context.config.engines,
            boxOf(context),
            db,
            organizationId,
            made.id,
          ),
        }
      })
      show(context, options, made, (width) =>
        facts(
          [
            ['id', made.id],
            ['name', made.name],
            ['language', made.language],
          ],
          width,
        ),
      )
      warnOfEngine(context, problem)
    })
}

const addPublishCommand = (agent: Command, context: CliContext): void => {
  agent
    .command('publish')
    .description('publish a new version of an agent; accepted calls keep theirs')
    .argument('<id>')
    .requiredOption('--file <file>', 'agent file (JSON)')
    .option('--json', 'print JSON')
    .action(async (id: string, options: OutputOptions & { file: string }) => {
      const file = readJsonFile(options.file)
      const { made, problem } = await context.withDatabase(async (db) => {
        const organizationId = await requireOwner(db, {}, 'agent', id)
        const made = await db.transaction(async (tx) => {
          const published = await publishAgent(tx, id, file)
          await recordAgentChange(tx, organizationId, {
            action: 'agent.publish',
            id,
            before: { version: published.version - 1 },
            after: { name: published.name, version: published.version },
          })
          return published
        })
        return {
          made,
          problem: await missingEngine(
            context.config.engines,
            boxOf(context),
            db,
            organizationId,
            id,
          ),
        }
      })
      show(
        context,
        options,
        made,
        () => `Agent ${made.name} is published in version ${made.version}.`,
      )
      warnOfEngine(context, problem)
    })
}

const addListCommand = (agent: Command, context: CliContext): void => {
  agent
    .command('list')
    .description('list the agents that are in use, newest first')
    .option('--org <org>', 'of one organization only')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions & { org?: string }) => {
      const agents = await context.withDatabase(async (db) => {
        if (options.org !== undefined) await requireOrganization(db, options.org)
        return (await listAllAgents(db, options.org)).map(agentResource)
      })
      show(context, options, agents, (width) =>
        table(
          ['ID', 'NAME', 'LANGUAGE', 'CREATED'],
          agents.map((each) => [each.id, each.name, each.language, each.created_at]),
          `There is no agent yet: ${programPath()} agent create --org ORG --file FILE`,
          width,
        ),
      )
    })
}

const addShowCommand = (agent: Command, context: CliContext): void => {
  withOrganization(
    agent
      .command('show')
      .description('show what an agent says and does, archived or not')
      .argument('<id>'),
    'agent',
  )
    .option('--json', 'print JSON')
    .action(async (id: string, options: OutputOptions & OrganizationOption) => {
      const shown = await context.withDatabase(async (db) =>
        showAgent(db, await requireOwner(db, options, 'agent', id), id),
      )
      show(context, options, shown, (width) => describeAgent(shown, width))
    })
}

const addExportCommand = (agent: Command, context: CliContext): void => {
  withOrganization(
    agent
      .command('export')
      .description('print an agent file, as create and publish take it; credentials are hidden')
      .argument('<id>'),
    'agent',
  )
    .option('--of-version <version>', 'of this version instead of the published one')
    .action(async (id: string, options: OrganizationOption & { ofVersion?: string }) => {
      const definition = await context.withDatabase(async (db) =>
        exportAgent(db, await requireOwner(db, options, 'agent', id), id, options.ofVersion),
      )
      show(context, { json: true }, definition, () => [])
    })
}

const addArchiveCommand = (agent: Command, context: CliContext): void => {
  agent
    .command('archive')
    .description(
      'take an agent out of use for good; its queued calls end failed, its live calls go on',
    )
    .argument('<id>')
    .option('--json', 'print JSON')
    .action(async (id: string, options: OutputOptions) => {
      const archived = await context.withDatabase(async (db) => {
        const organizationId = await requireOwner(db, {}, 'agent', id)
        return db.transaction(async (tx) => {
          const before = await findAgent(tx, organizationId, id)
          const agent = await archiveAgent(tx, id)
          if (before?.archived_at === null)
            await recordAgentChange(tx, organizationId, {
              action: 'agent.archive',
              id,
              before: { name: agent.name },
            })
          return agent
        })
      })
      show(context, options, archived, () => [
        `Agent ${archived.name} is archived, for good: it takes no calls and no new version. Its queued calls end failed, its live calls go on.`,
        `To go on, make another from its file: ${programPath()} agent create --file FILE`,
      ])
    })
}

/** As the dashboard's changes are recorded, in the change's transaction. */
const recordAgentChange = (
  tx: Queryable,
  organizationId: OrganizationId,
  {
    id,
    ...change
  }: Pick<Change, 'action' | 'before' | 'after'> & {
    readonly id: string
  },
): Promise<void> =>
  recordChange(tx, {
    ...change,
    organizationId,
    actor: commandLine(),
    target: { type: 'agent', id },
  })

/** The agent is published all the same: the service may have settings that this command does not see. */
const warnOfEngine = (context: CliContext, problem: string | undefined): void => {
  if (problem === undefined) return
  warn(context, `${problem} Until the service has it, calls of this agent cannot be held.`)
}
