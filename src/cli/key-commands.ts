import type { Command } from 'commander'
import type { ApiKey } from '../contract/api-keys.ts'
import type { Transaction } from '../database/database.ts'
import { findApiKeyOrganization } from '../domains/api-keys/api-key-store.ts'
import { auditedKey } from '../domains/api-keys/audited-key.ts'
import { createApiKey } from '../domains/api-keys/create-api-key.ts'
import { listApiKeys } from '../domains/api-keys/list-api-keys.ts'
import { renameApiKey } from '../domains/api-keys/rename-api-key.ts'
import { revokeApiKey } from '../domains/api-keys/revoke-api-key.ts'
import { rotateApiKey } from '../domains/api-keys/rotate-api-key.ts'
import { OperatorError } from '../domains/organizations/operator-error.ts'
import type { OrganizationId } from '../contract/organization-id.ts'
import { programPath } from '../runtime/program-path.ts'
import type { CliContext } from './cli-context.ts'
import { noteChange } from './note-change.ts'
import { collectRates, commaList, type RateOption } from './option-values.ts'
import { facts, show, type Lines, type OutputOptions } from './terminal/output.ts'
import {
  requireOrganization,
  withOrganization,
  type OrganizationOption,
} from './require-organization.ts'
import { table } from './terminal/table.ts'

interface CreateOptions extends OutputOptions, RateOption, OrganizationOption {
  readonly name: string
  readonly scopes: string[]
  readonly expiresAt?: string
}

/** `outdial key create|list|rename|rotate|revoke`. */
export const addKeyCommands = (program: Command, context: CliContext): void => {
  const key = program.command('key').description('API keys')
  addCreateCommand(key, context)
  addListCommand(key, context)
  addRenameCommand(key, context)
  addRotateCommand(key, context)
  addRevokeCommand(key, context)
}

const addCreateCommand = (key: Command, context: CliContext): void => {
  withOrganization(key.command('create').description('make a key; its secret is shown once'))
    .requiredOption('--name <name>', 'its name')
    .requiredOption('--scopes <a,b>', 'scopes, or all', commaList)
    .option('--expires-at <instant>', 'RFC 3339 instant after which it is refused')
    .option('--rate <bucket=n>', 'lower rate of a bucket (repeatable)', collectRates)
    .option('--json', 'print JSON')
    .action(async (options: CreateOptions) => {
      const made = await context.withDatabase(async (db) => {
        const { id } = await requireOrganization(db, options.org)
        return db.transaction(async (tx) => {
          const key = await createApiKey(tx, keyInput(id, options))
          await noteKey(tx, id, 'create', key, { after: auditedKey(key) })
          return key
        })
      })
      show(context, options, made, (width) => describeMade(made, width))
    })
}

const addListCommand = (key: Command, context: CliContext): void => {
  withOrganization(key.command('list').description('list keys'))
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions & OrganizationOption) => {
      const keys = await context.withDatabase(async (db) => {
        const { id: organizationId } = await requireOrganization(db, options.org)
        return listApiKeys(db, organizationId)
      })
      show(context, options, keys, (width) =>
        table(
          ['ID', 'NAME', 'ENDS IN', 'EXPIRES', 'REVOKED', 'SCOPES'],
          keys.map((each) => [
            each.id,
            each.name,
            each.last_four,
            each.expires_at ?? '',
            each.revoked_at ?? '',
            each.scopes.join(', '),
          ]),
          'This organization has no key.',
          width,
        ),
      )
    })
}

const addRenameCommand = (key: Command, context: CliContext): void => {
  key
    .command('rename')
    .description('rename a key')
    .argument('<id>')
    .argument('<name>')
    .option('--json', 'print JSON')
    .action(async (id: string, name: string, options: OutputOptions) => {
      const renamed = await context.withDatabase((db) =>
        db.transaction(async (tx) => {
          const { organizationId, key: before } = await requireKey(tx, id)
          const key = await renameApiKey(tx, id, name)
          const names = { before: { name: before.name }, after: { name: key.name } }
          await noteKey(tx, organizationId, 'rename', key, names)
          return key
        }),
      )
      show(context, options, renamed, () => `Key ${renamed.id} is now called ${renamed.name}.`)
    })
}

const addRotateCommand = (key: Command, context: CliContext): void => {
  key
    .command('rotate')
    .description('make a key like this one; the old one works until it is revoked')
    .argument('<id>')
    .option('--json', 'print JSON')
    .action(async (id: string, options: OutputOptions) => {
      const made = await context.withDatabase((db) =>
        db.transaction(async (tx) => {
          const { organizationId, key: old } = await requireKey(tx, id)
          const key = await rotateApiKey(tx, id)
          const keys = { before: auditedKey(old), after: auditedKey(key) }
          await noteKey(tx, organizationId, 'rotate', key, keys)
          return key
        }),
      )
      show(context, options, made, (width) => [
        ...describeMade(made, width),
        '',
        'The old key works until you end it, once your software has the new one:',
        `  ${programPath()} key revoke ${id}`,
      ])
    })
}

const addRevokeCommand = (key: Command, context: CliContext): void => {
  key
    .command('revoke')
    .description('end a key for good')
    .argument('<id>')
    .option('--json', 'print JSON')
    .action(async (id: string, options: OutputOptions) => {
      const revoked = await context.withDatabase((db) =>
        db.transaction(async (tx) => {
          const { organizationId, key: before } = await requireKey(tx, id)
          const key = await revokeApiKey(tx, id)
          await noteKey(tx, organizationId, 'revoke', key, { before: auditedKey(before) })
          return key
        }),
      )
      show(context, options, revoked, () => `Key ${revoked.id} is revoked.`)
    })
}

const requireKey = async (
  tx: Transaction,
  id: string,
): Promise<{ readonly organizationId: OrganizationId; readonly key: ApiKey }> => {
  const organizationId = await findApiKeyOrganization(tx, id)
  const keys = organizationId === undefined ? [] : await listApiKeys(tx, organizationId)
  const key = keys.find((each) => each.id === id)
  if (organizationId === undefined || !key) throw new OperatorError(`There is no API key ${id}.`)
  return { organizationId, key }
}

const noteKey = (
  tx: Transaction,
  organizationId: OrganizationId,
  verb: 'create' | 'rename' | 'rotate' | 'revoke',
  { id }: ApiKey,
  states: { readonly before?: object; readonly after?: object },
): Promise<void> =>
  noteChange(tx, {
    organizationId,
    action: `api_key.${verb}`,
    target: { type: 'api_key', id },
    ...states,
  })

const describeMade = (made: ApiKey & { readonly secret: string }, width?: number): Lines =>
  facts(
    [
      ['id', made.id],
      ['name', made.name],
      ['scopes', made.scopes.join(', ')],
      ['secret', `${made.secret}   (shown once)`],
    ],
    width,
  )

const keyInput = (
  organizationId: OrganizationId,
  { name, scopes, expiresAt, rate }: CreateOptions,
) => ({
  organizationId,
  name,
  scopes: scopes.length === 1 && scopes[0] === 'all' ? ('all' as const) : scopes,
  ...(expiresAt !== undefined && { expiresAt }),
  ...(rate && { rateLimits: rate }),
})
