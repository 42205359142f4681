import type { OrganizationId } from '../../contract/organization-id.ts'
import type { ProviderKind } from '../../contract/provider-kinds.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import type { SecretBox } from '../organizations/secret-box.ts'
import { providerKeyContext } from './edit-providers.ts'
import type { ProviderRow } from './provider-store.ts'

/** A provider as a conversation uses it. */
export interface StoredProvider {
  readonly id: string
  readonly name: string
  readonly kind: ProviderKind
  readonly url: string | undefined
  readonly model: string | undefined
  readonly voice: string | undefined
  readonly key: string | undefined
}

/** The provider of this name that an organization uses: its own, or the installation's. A sentence if it has none. */
export const findProvider = (
  rows: readonly ProviderRow[],
  box: SecretBox,
  organizationId: OrganizationId,
  name: string,
): StoredProvider | string => {
  const named = rows.filter((row) => row.name === name)
  const row =
    named.find((each) => each.organization_id === organizationId) ??
    named.find((each) => each.organization_id === null)
  return row === undefined
    ? `There is no provider ${name}: add it with provider add, or name another in the agent's engine.`
    : openProvider(row, box)
}

/** With its key. A sentence if the key cannot be read. */
export const openProvider = (row: ProviderRow, box: SecretBox): StoredProvider | string => {
  try {
    return {
      id: row.id,
      name: row.name,
      kind: row.kind,
      url: row.url ?? undefined,
      model: row.model ?? undefined,
      voice: row.voice ?? undefined,
      key: row.key === null ? undefined : box.open(row.key, providerKeyContext(row.id)),
    }
  } catch (error) {
    if (error instanceof OperatorError) return error.message
    throw error
  }
}
