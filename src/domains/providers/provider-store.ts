import type { OrganizationId } from '../../contract/organization-id.ts'
import type { ProviderKind } from '../../contract/provider-kinds.ts'
import { sql, type Queryable } from '../../database/database.ts'

/** A changed provider is a notification on this channel; nodes look every few seconds anyway. */
export const providersChannel = 'outdial_providers'

export interface ProviderRow {
  readonly id: string
  /** Null: it serves all organizations. */
  readonly organization_id: OrganizationId | null
  readonly name: string
  readonly kind: ProviderKind
  readonly url: string | null
  readonly model: string | null
  readonly voice: string | null
  readonly key: Buffer | null
  readonly created_at: Date
}

/** Over all organizations, for the nodes and the operator of the installation. */
const listStatement = sql(
  'provider-store.listProviderRows',
  `select id, organization_id, name, kind, url, model, voice, key, created_at
     from providers
    order by organization_id nulls first, name`,
)

export const listProviderRows = (db: Queryable): Promise<ProviderRow[]> =>
  db.rows<ProviderRow>(listStatement, [])

const insertStatement = sql(
  'provider-store.insertProvider',
  `insert into providers (id, organization_id, name, kind, url, model, voice, key)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   on conflict (organization_id, name) do nothing`,
)

/** Returns 0 if the name is taken. */
export const insertProvider = (
  db: Queryable,
  row: Omit<ProviderRow, 'created_at'>,
): Promise<number> =>
  db.run(insertStatement, [
    row.id,
    row.organization_id,
    row.name,
    row.kind,
    row.url,
    row.model,
    row.voice,
    row.key,
  ])

const deleteStatement = sql(
  'provider-store.deleteProvider',
  `delete from providers
    where organization_id is not distinct from $1
      and name = $2`,
)

export const deleteProvider = (
  db: Queryable,
  organizationId: OrganizationId | null,
  name: string,
): Promise<number> => db.run(deleteStatement, [organizationId, name])
