import type { Config } from '../config/read-config.ts'
import type { Database } from '../database/database.ts'
import { recordChange } from '../domains/audit/record-change.ts'
import { makeFirstOwner } from '../identity/first-owner.ts'
import type { Identity } from '../identity/identity.ts'
import { listMemberships } from '../identity/member-store.ts'
import { makeSetupSecret } from '../identity/setup-store.ts'

/**
 * The owner whom the settings name, made once where none stands; else the secret of a setup link, valid until one does.
 * Undefined where nothing is left to set up.
 */
export const prepareFirstAdmin = async (
  database: Database,
  identity: Identity,
  { email, password }: Config['admin'],
): Promise<string | undefined> => {
  if (email === undefined || password === undefined) return makeSetupSecret(database)
  await database.transaction(async (tx) => {
    const account = await makeFirstOwner(tx, identity, { name: email, email, password })
    if (!account) return
    for (const { organization_id: organizationId } of await listMemberships(tx, account.id))
      await recordChange(tx, {
        organizationId,
        actor: { kind: 'command_line', name: 'OUTDIAL_ADMIN_EMAIL' },
        action: 'member.join',
        target: { type: 'account', id: account.id },
        after: { email: account.email, role: 'owner' },
      })
  })
  return undefined
}
