import type { Command } from 'commander'
import type { Queryable } from '../database/database.ts'
import { listOrganizations } from '../domains/organizations/list-organizations.ts'
import { OperatorError } from '../domains/organizations/operator-error.ts'
import { organizationOf, type Owned } from '../domains/organizations/organization-of.ts'
import {
  findOrganization,
  type OrganizationRecord,
} from '../domains/organizations/organization-store.ts'
import type { OrganizationId } from '../contract/organization-id.ts'
import { isUuid } from '../runtime/ids.ts'
import { programPath } from '../runtime/program-path.ts'
import { UsageError } from './cli-context.ts'

export interface OrganizationOption {
  readonly org?: string
}

/** `--org` of a command; `owned` if the command names a resource whose id determines the organization. */
export const withOrganization = (command: Command, owned?: Owned): Command =>
  command.option(
    '--org <org>',
    owned === undefined
      ? 'organization id; not needed where there is one organization only'
      : `organization id; not needed, as the id of the ${owned} tells it`,
  )

/**
 * The organization that a command names, or the only one. Throws `OperatorError` for an unknown id, and
 * `UsageError` if several are possible.
 */
export const requireOrganization = async (
  db: Queryable,
  id: string | undefined,
): Promise<OrganizationRecord> => {
  const meant = id ?? (await onlyOrganization(db))
  const organization = isUuid(meant) ? await findOrganization(db, meant) : undefined
  if (!organization)
    throw new OperatorError(
      `There is no organization ${meant}. \`${programPath()} org list\` names them.`,
    )
  return organization
}

/**
 * The id of the organization that a command names, or that owns the named resource. Throws `OperatorError` for what can
 * be no id.
 */
export const requireOwner = async (
  db: Queryable,
  { org }: OrganizationOption,
  owned: Owned,
  id: string,
): Promise<OrganizationId> => {
  if (!isUuid(id)) throw new OperatorError(`There is no ${owned} ${id}.`)
  if (org !== undefined) return (await requireOrganization(db, org)).id
  const owner = await organizationOf(db, owned, id)
  if (owner === undefined) throw new OperatorError(`There is no ${owned} ${id}.`)
  return owner
}

const onlyOrganization = async (db: Queryable): Promise<string> => {
  const [only, ...others] = await listOrganizations(db)
  if (!only)
    throw new OperatorError(
      `There is no organization yet: \`${programPath()} org create --name NAME\` makes one.`,
    )
  if (others.length > 0)
    throw new UsageError(
      `Say which organization with --org: there are ${others.length + 1}. \`${programPath()} org list\` names them.`,
    )
  return only.id
}
