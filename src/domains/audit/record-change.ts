import type { OrganizationId } from '../../contract/organization-id.ts'
import { sql, type Queryable } from '../../database/database.ts'
import { newId } from '../../runtime/ids.ts'

/** Who changed something. */
export type Actor =
  | {
      readonly kind: 'account' | 'key'
      readonly id: string
      /** The account's e-mail address, or the key's prefix. */
      readonly name: string
      readonly address: string
    }
  /** A user of the machine, by the command line or the settings. */
  | { readonly kind: 'command_line'; readonly name: string }

export interface Change {
  readonly organizationId: OrganizationId
  readonly actor: Actor
  /** Noun and verb: `api_key.create`. */
  readonly action: string
  readonly target: { readonly type: string; readonly id: string | null }
  readonly before?: object | undefined
  readonly after?: object | undefined
}

const insertStatement = sql(
  'record-change.insertEntry',
  `insert into audit_entries
     (organization_id, id, actor_kind, actor_id, actor_name, address, action, target_type, target_id, before, after)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
)

/** Writes a change into the audit log, in the change's own transaction. Secrets in `before` and `after` are left out. */
export const recordChange = async (tx: Queryable, change: Change): Promise<void> => {
  const { organizationId, actor, action, target, before, after } = change
  const isPerson = actor.kind !== 'command_line'
  await tx.run(insertStatement, [
    organizationId,
    newId(),
    actor.kind,
    isPerson ? actor.id : null,
    actor.name,
    isPerson ? actor.address : null,
    action,
    target.type,
    target.id,
    before === undefined ? null : JSON.stringify(withoutSecrets(before)),
    after === undefined ? null : JSON.stringify(withoutSecrets(after)),
  ])
}

/** Members that may hold a secret, wherever they stand. */
const secretNames =
  /^(?:secret|password|hash|authorization|headers|.*_(?:secret|password|key|token))$/i
const hidden = '(hidden)'

/** A copy in which the members that may hold a secret are hidden. Exported for its test. */
const withoutSecrets = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      secretNames.test(name) ? hidden : withoutSecrets(member),
    ]),
  )
}
