import type { Transaction } from '../database/database.ts'
import { administerInstallation } from './account-store.ts'
import type { Account, Identity, NewAccount } from './identity.ts'
import { ownTheOwnerless } from './member-store.ts'
import { takeFirstOwner } from './setup-store.ts'

/**
 * An account that owns every organization without an owner and administers the installation. Undefined where an owner
 * stands already: of two that try at once, one becomes it.
 */
export const makeFirstOwner = async (
  tx: Transaction,
  identity: Pick<Identity, 'createAccount'>,
  account: NewAccount,
): Promise<Account | undefined> => {
  if (!(await takeFirstOwner(tx))) return undefined
  const made = await identity.createAccount(tx, account)
  await ownTheOwnerless(tx, made.id)
  await administerInstallation(tx, made.id)
  return { ...made, administersInstallation: true }
}
