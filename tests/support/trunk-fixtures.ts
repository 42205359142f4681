import type { Database } from '../../src/database/database.ts'
import { addTrunk } from '../../src/domains/trunks/edit-trunks.ts'
import type { SecretBox } from '../../src/domains/organizations/secret-box.ts'
import { createSecretBox } from '../../src/domains/organizations/secret-box.ts'
import type { TrunkInput } from '../../src/domains/trunks/trunk-settings.ts'

/** A box with a key of its own, for tests that look into no file. */
export const testBox: SecretBox = createSecretBox({
  secretKey: Buffer.alloc(32, 1).toString('base64'),
  dataFolder: '',
})

export const insertTrunk = (
  db: Database,
  name: string,
  input: TrunkInput,
  password?: string,
): Promise<unknown> =>
  db.transaction((tx) =>
    addTrunk(tx, testBox, name, input, password === undefined ? {} : { password }),
  )
