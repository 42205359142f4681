import { readFileSync } from 'node:fs'
import { Option, type Command } from 'commander'
import { roles, type Role } from '../contract/roles.ts'
import { OperatorError } from '../domains/organizations/operator-error.ts'
import type { CliContext } from './cli-context.ts'
import { facts, show, type Lines, type OutputOptions } from './terminal/output.ts'
import {
  requireOrganization,
  withOrganization,
  type OrganizationOption,
} from './require-organization.ts'
import { table } from './terminal/table.ts'

interface CreateOptions extends OutputOptions, OrganizationOption {
  readonly email: string
  readonly name: string
  readonly role: Role
  readonly passwordFile?: string
}

/** `outdial admin create|reset-password|list`: people who sign in to the dashboard. */
export const addAdminCommands = (program: Command, context: CliContext): void => {
  const admin = program.command('admin').description('people who sign in to the dashboard')
  withOrganization(
    admin.command('create').description('make an account, or add a known one to an organization'),
  )
    .requiredOption('--email <email>', 'what the person signs in with')
    .requiredOption('--name <name>', 'the person’s name')
    .addOption(new Option('--role <role>', 'what they may do').choices(roles).default('owner'))
    .option('--password-file <file>', 'file with the password; without it one is printed')
    .option('--json', 'print JSON')
    .action(async (options: CreateOptions) => {
      const password = passwordOf(options.passwordFile)
      const { createAdministrator } = await import('../operator/administrators.ts')
      const { openIdentity } = await import('../identity/open-identity.ts')
      const made = await context.withDatabase(async (db) => {
        const { id } = await requireOrganization(db, options.org)
        return createAdministrator(db, openIdentity(db), {
          email: options.email,
          name: options.name,
          organizationId: id,
          role: options.role,
          password,
        })
      })
      show(context, options, made, (width) =>
        describe(
          [
            ['organization', made.organization_id],
            ['role', made.role],
          ],
          made,
          width,
        ),
      )
    })
  admin
    .command('reset-password')
    .description('set a password and end the person’s sessions')
    .argument('<email>')
    .option('--password-file <file>', 'file with the password; without it one is printed')
    .option('--json', 'print JSON')
    .action(async (email: string, options: OutputOptions & { readonly passwordFile?: string }) => {
      const password = passwordOf(options.passwordFile)
      const { resetAdministrator } = await import('../operator/administrators.ts')
      const { openIdentity } = await import('../identity/open-identity.ts')
      const reset = await context.withDatabase(async (db) =>
        resetAdministrator(db, openIdentity(db), email, password),
      )
      show(context, options, reset, (width) => describe([], reset, width))
    })
  admin
    .command('list')
    .description('list accounts and what they may do')
    .option('--json', 'print JSON')
    .action(async (options: OutputOptions) => {
      const { listAdministrators } = await import('../operator/administrators.ts')
      const accounts = await context.withDatabase(listAdministrators)
      show(context, options, accounts, (width) =>
        table(
          ['EMAIL', 'NAME', 'LAST SEEN', 'ROLES'],
          accounts.map(({ email, name, last_seen_at: seen = '', memberships }) => [
            email,
            name,
            seen,
            memberships.map((each) => `${each.role} of ${each.organization_id}`).join(', '),
          ]),
          'There is no account yet: open the setup link that outdial start prints.',
          width,
        ),
      )
    })
}

const describe = (
  more: readonly (readonly [string, string])[],
  { email, password }: { readonly email: string; readonly password?: string },
  width?: number,
): Lines =>
  facts(
    [
      ['email', email],
      ...more.map(([name, value]): [string, string] => [name, value]),
      ...(password === undefined
        ? []
        : [['password', `${password}   (shown once)`] as [string, string]]),
    ],
    width,
  )

const passwordOf = (file: string | undefined): string | undefined => {
  if (file === undefined) return undefined
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new OperatorError(`The password cannot be read: ${(error as Error).message}.`)
  }
}
