import { z } from 'zod'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { environmentProvider, providerKinds } from '../../contract/provider-kinds.ts'
import type { Queryable, Transaction } from '../../database/database.ts'
import { newId } from '../../runtime/ids.ts'
import { checkFile } from '../organizations/invalid-file.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import type { SecretBox } from '../organizations/secret-box.ts'
import {
  deleteProvider,
  insertProvider,
  listProviderRows,
  providersChannel,
  type ProviderRow,
} from './provider-store.ts'

/** Every node knows all of them: an installation needs some dozens at most. */
const maxProviders = 1_000
const maxKeyLength = 8 * 1024

const providerInput = z.strictObject({
  name: z
    .string()
    .regex(
      /^[a-z0-9][a-z0-9_-]{0,62}$/,
      'It must begin with a small letter or a digit, then small letters, digits, "_" or "-", at most 63 in all.',
    )
    .refine(
      (name) => name !== environmentProvider,
      'It belongs to the settings of the environment: choose another.',
    ),
  kind: z.enum([...providerKinds.stt, ...providerKinds.llm, ...providerKinds.tts]),
  url: z
    .url({ protocol: /^(wss?|https?)$/, error: 'It must be a URL of ws, wss, http or https.' })
    .max(2048)
    .refine((url) => !hasPassword(url), 'It must hold no user and password: the key has a file.')
    .optional(),
  model: z.string().min(1).max(200).optional(),
  voice: z.string().min(1).max(200).optional(),
  key: z
    .string()
    .max(maxKeyLength)
    .regex(
      /^[\x21-\x7e]+$/,
      'It must be one line without spaces that is not empty: check the file.',
    )
    .optional(),
})

const hasPassword = (url: string): boolean => {
  const parsed = URL.parse(url)
  return parsed !== null && (parsed.username !== '' || parsed.password !== '')
}

export type ProviderInput = z.input<typeof providerInput>

/** A provider as it is shown: without its key. */
export interface ShownProvider {
  readonly name: string
  /** Null: it serves all organizations. */
  readonly organization_id: OrganizationId | null
  readonly kind: ProviderRow['kind']
  readonly url: string | null
  readonly model: string | null
  readonly voice: string | null
  readonly has_key: boolean
  readonly created_at: string | undefined
}

/** The context that binds a sealed key to its provider. */
export const providerKeyContext = (id: string): string => `provider ${id}`

/** Throws `InvalidFileError` or `OperatorError`. */
export const addProvider = async (
  tx: Transaction,
  box: SecretBox,
  organizationId: OrganizationId | null,
  input: ProviderInput,
): Promise<ShownProvider> => {
  const { name, kind, url, model, voice, key } = checkFile(providerInput, input)
  if ((await listProviderRows(tx)).length >= maxProviders)
    throw new OperatorError(`There are ${maxProviders} providers, which is the limit: remove one.`)
  const id = newId()
  const row = {
    id,
    organization_id: organizationId,
    name,
    kind,
    url: url ?? null,
    model: model ?? null,
    voice: voice ?? null,
    key: key === undefined ? null : box.seal(key, providerKeyContext(id)),
  }
  if ((await insertProvider(tx, row)) === 0)
    throw new OperatorError(
      `There is a provider ${name} already: choose another name, or remove it first.`,
    )
  tx.hintAfterCommit(providersChannel)
  return shown({ ...row, created_at: undefined })
}

/** Live calls go on with it to their end. Throws `OperatorError` for an unknown one. */
export const removeProvider = async (
  tx: Transaction,
  organizationId: OrganizationId | null,
  name: string,
): Promise<void> => {
  if ((await deleteProvider(tx, organizationId, name)) === 0)
    throw new OperatorError(
      `There is no provider ${name.slice(0, 63)} ${organizationId === null ? 'of the installation' : 'of this organization'}: provider list shows them.`,
    )
  tx.hintAfterCommit(providersChannel)
}

/** Those of all organizations, or those that this one can use by itself. */
export const listProviders = async (
  db: Queryable,
  organizationId?: OrganizationId,
): Promise<readonly ShownProvider[]> =>
  (await listProviderRows(db))
    .filter(
      (row) =>
        organizationId === undefined ||
        row.organization_id === null ||
        row.organization_id === organizationId,
    )
    .map(shown)

const shown = (
  row: Omit<ProviderRow, 'created_at'> & { readonly created_at: Date | undefined },
): ShownProvider => ({
  name: row.name,
  organization_id: row.organization_id,
  kind: row.kind,
  url: row.url,
  model: row.model,
  voice: row.voice,
  has_key: row.key !== null,
  created_at: row.created_at?.toISOString(),
})
