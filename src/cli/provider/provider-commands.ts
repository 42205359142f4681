import { readFileSync } from 'node:fs'
import { Option, type Command } from 'commander'
import { providerKinds } from '../../contract/provider-kinds.ts'
import { commandLine } from '../../domains/audit/command-line.ts'
import { recordChange } from '../../domains/audit/record-change.ts'
import { listOrganizations } from '../../domains/organizations/list-organizations.ts'
import { OperatorError } from '../../domains/organizations/operator-error.ts'
import { createSecretBox, type SecretBox } from '../../domains/organizations/secret-box.ts'
import {
  addProvider,
  listProviders,
  removeProvider,
  type ShownProvider,
} from '../../domains/providers/edit-providers.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { Transaction } from '../../database/database.ts'
import type { CliContext } from '../cli-context.ts'
import { requireOrganization } from '../require-organization.ts'
import { show, type OutputOptions } from '../terminal/output.ts'
import { table } from '../terminal/table.ts'

interface ProviderOptions extends OutputOptions {
  readonly org?: string
}

interface AddOptions extends ProviderOptions {
  readonly kind: ShownProvider['kind']
  readonly url?: string
  readonly model?: string
  readonly voice?: string
  readonly keyFile?: string
}

const allKinds = [...providerKinds.stt, ...providerKinds.llm, ...providerKinds.tts]
const organizationOption = [
  '--org <org>',
  'organization id; without it the provider serves all organizations',
] as const

/** `outdial provider add|list|test|remove`: speech and words of other companies, which agents name. */
export const addProviderCommands = (program: Command, context: CliContext): void => {
  const provider = program.command('provider').description('speech and model providers')
  addAddCommand(provider, context)
  addListCommand(provider, context)
  addTestCommand(provider, context)
  addRemoveCommand(provider, context)
}

const boxOf = ({ config }: CliContext): SecretBox =>
  createSecretBox({ ...config.program, ...config.store })

const addAddCommand = (provider: Command, context: CliContext): void => {
  provider
    .command('add')
    .description('add a provider; agents name it in their engine')
    .argument('<name>', 'its name, in lower case')
    .addOption(
      new Option('--kind <kind>', 'what it speaks').choices(allKinds).makeOptionMandatory(),
    )
    .option('--url <url>', "base URL; without it the provider's own")
    .option('--model <model>', "model; without it the provider's usual one")
    .option('--voice <voice>', 'voice of a synthesizer')
    .option('--key-file <file>', 'file with its key, - for stdin; the key is stored encrypted')
    .option(...organizationOption)
    .option('--json', 'print JSON')
    .action(async (name: string, options: AddOptions) => {
      const { kind, url, model, voice, keyFile } = options
      const key = keyFile === undefined ? undefined : readKey(keyFile)
      const box = boxOf(context)
      const added = await context.withDatabase(async (db) => {
        const organizationId = await scopeOf(db, options)
        return db.transaction(async (tx) => {
          const after = await addProvider(tx, box, organizationId, {
            name,
            kind,
            ...(url !== undefined && { url }),
            ...(model !== undefined && { model }),
            ...(voice !== undefined && { voice }),
            ...(key !== undefined && { key }),
          })
          await note(tx, organizationId, 'add', name, { after })
          return after
        })
      })
      show(context, options, added, () => [
        `The provider ${added.name} (${added.kind}) is added. Check it with provider test ${added.name}.`,
      ])
    })
}

const readKey = (file: string): string => {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8').trim()
  } catch (error) {
    throw new OperatorError(`The key file cannot be read: ${(error as Error).message}.`)
  }
}

type Scope = Parameters<typeof requireOrganization>[0]

const scopeOf = async (db: Scope, { org }: ProviderOptions): Promise<OrganizationId | null> =>
  org === undefined ? null : (await requireOrganization(db, org)).id

/** A provider of the installation stands in the log of its first organization. */
const note = async (
  tx: Transaction,
  organizationId: OrganizationId | null,
  action: 'add' | 'remove',
  name: string,
  change: { readonly before?: object; readonly after?: object },
): Promise<void> => {
  const owner = organizationId ?? (await listOrganizations(tx))[0]?.id
  if (owner === undefined) return
  await recordChange(tx, {
    organizationId: owner,
    actor: commandLine(),
    action: `provider.${action}`,
    target: { type: 'provider', id: name },
    ...change,
  })
}

const addListCommand = (provider: Command, context: CliContext): void => {
  provider
    .command('list')
    .description('list providers')
    .option(...organizationOption)
    .option('--json', 'print JSON')
    .action(async (options: ProviderOptions) => {
      const providers = await context.withDatabase(async (db) => {
        const organizationId = await scopeOf(db, options)
        return listProviders(db, organizationId ?? undefined)
      })
      show(context, options, { data: providers }, (width) =>
        table(
          ['name', 'kind', 'model', 'voice', 'key', 'organization', 'url'],
          providers.map((each) => [
            each.name,
            each.kind,
            each.model ?? '–',
            each.voice ?? '–',
            each.has_key ? 'yes' : 'no',
            each.organization_id ?? 'all',
            each.url ?? '–',
          ]),
          'No providers. provider add makes one.',
          width,
        ),
      )
    })
}

/** The finding names what failed. */
class ProviderFailedError extends Error {
  override readonly name = 'ProviderFailedError'
}

const addTestCommand = (provider: Command, context: CliContext): void => {
  provider
    .command('test')
    .description('let a provider do a moment of its work: it costs a few words')
    .argument('<name>')
    .option(...organizationOption)
    .option('--json', 'print JSON')
    .action(async (name: string, options: ProviderOptions) => {
      // Loaded on use, because the help does not need it.
      const { testStoredProvider } = await import('../../operator/test-provider.ts')
      const box = boxOf(context)
      const result = await context.withDatabase(async (db) =>
        testStoredProvider(db, box, await scopeOf(db, options), name),
      )
      show(context, options, result, () => [result.message])
      if (!result.ok) throw new ProviderFailedError(`The provider ${name} did not pass.`)
    })
}

const addRemoveCommand = (provider: Command, context: CliContext): void => {
  provider
    .command('remove')
    .description('remove a provider; live calls go on with it to their end')
    .argument('<name>')
    .option(...organizationOption)
    .option('--json', 'print JSON')
    .action(async (name: string, options: ProviderOptions) => {
      await context.withDatabase(async (db) => {
        const organizationId = await scopeOf(db, options)
        await db.transaction(async (tx) => {
          await removeProvider(tx, organizationId, name)
          await note(tx, organizationId, 'remove', name, {})
        })
      })
      show(context, options, { name, removed: true }, () => [`The provider ${name} is removed.`])
    })
}
