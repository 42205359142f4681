import type { Queryable, Transaction } from '../../database/database.ts'
import { checkFile, InvalidFileError } from '../organizations/invalid-file.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import type { SecretBox } from '../organizations/secret-box.ts'
import { pacingOf } from './pacing.ts'
import {
  environmentTrunk,
  trunkInput,
  trunkName,
  trunkSettings,
  type TrunkInput,
  type TrunkValues,
} from './trunk-settings.ts'
import {
  countTrunks,
  deleteTrunkRow,
  listTrunkRows,
  lockTrunkRow,
  pauseTrunkRow,
  trunksChannel,
  unknownOrganizations,
  writeTrunk,
  type TrunkRow,
} from './trunk-store.ts'
import { trunkOfRow, type KeptSecrets, type ShownTrunk } from './trunk-resource.ts'

/** Every trunk has a user agent's share of memory and a probe: an installation needs some dozens at most. */
const maxTrunks = 100
const maxSecretBytes = 16 * 1024

/** Secrets that a change sets; null removes one, undefined keeps it. */
export interface SecretChange {
  readonly password?: string | null | undefined
  readonly tls_key?: string | null | undefined
}

/** Throws `InvalidFileError` or `OperatorError`. */
export const addTrunk = async (
  tx: Transaction,
  box: SecretBox,
  name: string,
  input: TrunkInput,
  secrets: SecretChange = {},
): Promise<ShownTrunk> => {
  checkFile(trunkName, name)
  if (name === environmentTrunk)
    throw new OperatorError(
      'The name env belongs to the trunk of OUTDIAL_SIP_TRUNK: choose another.',
    )
  const values = checkFile(trunkInput, input)
  if ((await lockTrunkRow(tx, name)) !== undefined)
    throw new OperatorError(
      `There is a trunk ${name} already: choose another name, or change it with trunk set.`,
    )
  if ((await countTrunks(tx)) >= maxTrunks)
    throw new OperatorError(`There are ${maxTrunks} trunks, which is the limit: remove one.`)
  await write(tx, box, name, values, {}, secrets)
  return showTrunk(tx, box, name)
}

/** Members that are given replace; live calls go on as they began. */
export const changeTrunk = async (
  tx: Transaction,
  box: SecretBox,
  name: string,
  change: Partial<TrunkInput>,
  secrets: SecretChange = {},
): Promise<ShownTrunk> => {
  const row = await editable(tx, name)
  const before = inputOfRow(row)
  const values = checkFile(trunkInput, withoutUnset({ ...before, ...change }))
  await write(tx, box, name, values, openSecrets(box, row) ?? {}, secrets)
  return showTrunk(tx, box, name)
}

export const pauseTrunk = async (
  tx: Transaction,
  box: SecretBox,
  name: string,
  paused: boolean,
): Promise<ShownTrunk> => {
  if ((await pauseTrunkRow(tx, name, paused)) === 0) throw unknownTrunk(name)
  tx.hintAfterCommit(trunksChannel)
  return showTrunk(tx, box, name)
}

/** Live calls on it go on to their end. Returns what it was. */
export const removeTrunk = async (
  tx: Transaction,
  box: SecretBox,
  name: string,
): Promise<ShownTrunk> => {
  const row = await editable(tx, name)
  await deleteTrunkRow(tx, name)
  tx.hintAfterCommit(trunksChannel)
  return trunkOfRow(row, openSecrets(box, row))
}

export const listTrunks = async (db: Queryable, box: SecretBox): Promise<readonly ShownTrunk[]> =>
  (await listTrunkRows(db)).map((row) => trunkOfRow(row, openSecrets(box, row)))

export const showTrunk = async (
  db: Queryable,
  box: SecretBox,
  name: string,
): Promise<ShownTrunk> => {
  const row = (await listTrunkRows(db)).find((each) => each.name === name)
  if (row === undefined) throw unknownTrunk(name)
  return trunkOfRow(row, openSecrets(box, row))
}

/** Undefined: sealed with another key. */
export const openSecrets = (
  box: SecretBox,
  { name, secrets }: Pick<TrunkRow, 'name' | 'secrets'>,
): KeptSecrets | undefined => {
  if (secrets === null) return {}
  try {
    return JSON.parse(box.open(secrets, `trunk ${name}`)) as KeptSecrets
  } catch (error) {
    if (error instanceof OperatorError) return undefined
    throw error
  }
}

/** The settings of a row in the shape of the input. */
const inputOfRow = (row: TrunkRow): TrunkInput => ({
  ...row.settings,
  priority: row.priority,
  weight: row.weight,
  channels: row.channels,
  cps: row.calls_per_second,
  countries: row.countries === null ? 'all' : [...row.countries],
  organizations: row.organizations === null ? 'all' : [...row.organizations],
})

const write = async (
  tx: Transaction,
  box: SecretBox,
  name: string,
  values: TrunkValues,
  kept: KeptSecrets,
  change: SecretChange,
): Promise<void> => {
  const { priority, weight, channels, cps, countries, organizations, ...settings } = values
  await checkOrganizations(tx, organizations)
  const secrets = withChange(kept, change)
  checkSecrets(values, secrets)
  const { burst, refillPerSecond } = pacingOf(cps)
  await writeTrunk(
    tx,
    {
      name,
      settings: trunkSettings.parse(settings),
      secrets:
        Object.keys(secrets).length === 0
          ? null
          : box.seal(JSON.stringify(secrets), `trunk ${name}`),
      priority,
      weight,
      channels,
      callsPerSecond: cps,
      burst,
      refillPerSecond,
      countries: countries === 'all' ? null : countries,
      organizations: organizations === 'all' ? null : organizations,
    },
    values.uris,
    true,
  )
  tx.hintAfterCommit(trunksChannel)
}

const withChange = (kept: KeptSecrets, change: SecretChange): KeptSecrets => {
  const password = change.password === undefined ? kept.password : change.password
  const key = change.tls_key === undefined ? kept.tls_key : change.tls_key
  return { ...(password != null && { password }), ...(key != null && { tls_key: key }) }
}

const withoutUnset = <T extends object>(values: T): T =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T

const checkSecrets = (
  { user, tls }: TrunkValues,
  { password, tls_key: key }: KeptSecrets,
): void => {
  const problem = (path: string, message: string): never => {
    throw new InvalidFileError([{ path, message }])
  }
  if (password !== undefined && user === undefined)
    problem('user', 'A password needs a user: set --user too.')
  if (password !== undefined && (password === '' || /[\r\n\0]/.test(password)))
    problem('password', 'It must be one line that is not empty: check the file.')
  if (
    Buffer.byteLength(password ?? '') > maxSecretBytes ||
    Buffer.byteLength(key ?? '') > maxSecretBytes
  )
    problem('password', `A secret has at most ${maxSecretBytes} bytes.`)
  if ((key === undefined) !== (tls?.certificate === undefined))
    problem('tls.certificate', 'A client certificate and its key go together: set both or none.')
}

const checkOrganizations = async (
  db: Queryable,
  organizations: TrunkValues['organizations'],
): Promise<void> => {
  if (organizations === 'all') return
  const [unknown] = await unknownOrganizations(db, organizations)
  if (unknown !== undefined)
    throw new InvalidFileError([
      {
        path: 'organizations',
        message: `There is no live organization ${unknown}: org list shows them; sandbox ones never use a trunk.`,
      },
    ])
}

const editable = async (tx: Queryable, name: string): Promise<TrunkRow> => {
  const row = await lockTrunkRow(tx, name)
  if (row === undefined) throw unknownTrunk(name)
  if (name === environmentTrunk)
    throw new OperatorError(
      'The trunk env is set by OUTDIAL_SIP_TRUNK: change that and start again, or pause it.',
    )
  return row
}

const unknownTrunk = (name: string): OperatorError =>
  new OperatorError(`There is no trunk ${name.slice(0, 63)}: trunk list shows them.`)
