import type { Transaction } from '../../database/database.ts'
import type { Actor } from '../../domains/audit/record-change.ts'
import {
  addTrunk as add,
  changeTrunk as change,
  listTrunks as list,
  pauseTrunk,
  removeTrunk as remove,
  showTrunk,
} from '../../domains/trunks/edit-trunks.ts'
import { noteTrunkChange } from '../../domains/trunks/note-trunk-change.ts'
import type { ShownTrunk } from '../../domains/trunks/trunk-resource.ts'
import type { TrunkInput } from '../../domains/trunks/trunk-settings.ts'
import { asTold, sessionOf, type ConsoleHandler } from '../console-handler.ts'

/* The table lets only those in who administer the installation. */

export const listTrunks: ConsoleHandler<'listTrunks'> = async (_input, { db, parts }) => ({
  data: (await list(db, parts.trunks.box)).map(resourceOf),
})

export const testTrunk: ConsoleHandler<'testTrunk'> = async ({ params }, { db, parts }) => {
  const { gateways, ...result } = await asTold(parts.trunks.test(db, params.trunk))
  return { ...result, gateways: [...gateways] }
}

export const addTrunk: ConsoleHandler<'addTrunk'> = async ({ body }, context) => {
  const { db, parts } = context
  const after = await asTold(
    add(db, parts.trunks.box, body.name, body.settings as TrunkInput, secretOf(body)),
  )
  await noteTrunkChange(db, actorOf(context), 'add', body.name, { after })
  return resourceOf(after)
}

export const changeTrunk: ConsoleHandler<'changeTrunk'> = async ({ params, body }, context) => {
  const { db, parts } = context
  const name = params.trunk
  const [before, after] = await asTold(
    changing(db, parts.trunks.box, name, () =>
      change(db, parts.trunks.box, name, cleared(body.settings), secretOf(body)),
    ),
  )
  await noteTrunkChange(db, actorOf(context), 'change', name, { before, after })
  return resourceOf(after)
}

export const setTrunkPaused: ConsoleHandler<'setTrunkPaused'> = async (
  { params, body },
  context,
) => {
  const { db, parts } = context
  const name = params.trunk
  const [before, after] = await asTold(
    changing(db, parts.trunks.box, name, () => pauseTrunk(db, parts.trunks.box, name, body.paused)),
  )
  await noteTrunkChange(db, actorOf(context), body.paused ? 'pause' : 'resume', name, {
    before,
    after,
  })
  return resourceOf(after)
}

export const removeTrunk: ConsoleHandler<'removeTrunk'> = async ({ params }, context) => {
  const { db, parts } = context
  const before = await asTold(remove(db, parts.trunks.box, params.trunk))
  await noteTrunkChange(db, actorOf(context), 'remove', params.trunk, { before })
  return resourceOf(before)
}

const changing = async (
  tx: Transaction,
  box: Parameters<typeof showTrunk>[1],
  name: string,
  work: () => Promise<ShownTrunk>,
): Promise<readonly [ShownTrunk, ShownTrunk]> => {
  const before = await showTrunk(tx, box, name)
  return [before, await work()]
}

interface GivenSecrets {
  readonly password?: string | null | undefined
  readonly tls_key?: string | null | undefined
}

const secretOf = ({ password, tls_key: key }: GivenSecrets) => ({
  ...(password !== undefined && { password }),
  ...(key !== undefined && { tls_key: key }),
})

/** JSON has no undefined: null takes a value away. */
const cleared = (settings: Readonly<Record<string, unknown>>): Partial<TrunkInput> =>
  Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      value === null && name !== 'channels' ? undefined : value,
    ]),
  )

const actorOf = (context: Parameters<typeof sessionOf>[0] & ClientContext): Actor => {
  const { userId, email } = sessionOf(context)
  return { kind: 'account', id: userId, name: email, address: context.visit.address() }
}

interface ClientContext {
  readonly visit: { readonly address: () => string }
}

/** As a change takes them. */
const settingsOfTls = (shown: NonNullable<ShownTrunk['tls']>) => {
  const { has_key: _hasKey, ...tls } = shown
  return tls
}

const resourceOf = (trunk: ShownTrunk) => {
  const {
    name,
    source,
    state,
    reason,
    paused,
    has_password,
    live_calls,
    paced_cps,
    congested_since,
    gateways,
    registrations,
    tls,
    created_at: _created,
    updated_at: _updated,
    ...settings
  } = trunk
  const { channels, cps, priority, register } = settings
  return {
    name,
    source,
    state,
    reason,
    paused,
    has_password,
    has_tls_key: tls?.has_key ?? false,
    live_calls,
    channels,
    cps,
    paced_cps,
    congested_since,
    priority,
    register,
    gateways: [...gateways],
    registrations: [...registrations],
    settings: { ...settings, ...(tls !== null && { tls: settingsOfTls(tls) }) },
  }
}
