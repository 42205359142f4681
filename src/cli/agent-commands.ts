import type { Command } from 'commander'
import { archiveAgent } from '../domains/agents/archive-agent.ts'
import { createAgent } from '../domains/agents/create-agent.ts'
import { publishAgent } from '../domains/agents/publish-agent.ts'
import { agentResource } from '../domains/agents/agent-resource.ts'
import { listAllAgents } from '../domains/agents/agent-store.ts'
import { programPath } from '../runtime/program-path.ts'
import type { CliContext } from './cli-context.ts'
import { facts, show, type OutputOptions } from './output.ts'
import { readJsonFile } from './read-file.ts'
import {
  requireOrganization,
  withOrganization,
  type OrganizationOption,
} from './require-organization.ts'
import { table } from './table.ts'

/** `outdial agent create|publish|list|archive`. */
export const addAgentCommands = (program: Command, context: CliContext): void => {
  const agent = program.command('agent').description('AI voice agents')
  withOrganization(agent.command('create').description('publish an agent from its file'))
    .requiredOption('--file <file>', 'agent file (JSON)')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions & OrganizationOption & { file: string }) => {
      const file = readJsonFile(options.file)
      const made = await context.withDatabase(async (db) => {
        const { id: organizationId } = await requireOrganization(db, options.org)
        return createAgent(db, organizationId, file)
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
    })
  agent
    .command('publish')
    .description('publish a new version of an agent; accepted calls keep theirs')
    .argument('<id>')
    .requiredOption('--file <file>', 'agent file (JSON)')
    .option('--json', 'print JSON')
    .action(async (id: string, options: OutputOptions & { file: string }) => {
      const file = readJsonFile(options.file)
      const made = await context.withDatabase((db) => publishAgent(db, id, file))
      show(
        context,
        options,
        made,
        () => `Agent ${made.name} is published in version ${made.version}.`,
      )
    })
  agent
    .command('list')
    .description('list the agents that are in use')
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
  agent
    .command('archive')
    .description('take an agent out of use; its queued calls end failed')
    .argument('<id>')
    .option('--json', 'print JSON')
    .action(async (id: string, options: OutputOptions) => {
      const archived = await context.withDatabase((db) => archiveAgent(db, id))
      show(context, options, archived, () => `Agent ${archived.name} is archived.`)
    })
}
