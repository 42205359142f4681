import type { Database } from '../database/database.ts'
import { installationSecrets } from '../domains/organizations/installation-secrets.ts'
import type { Identity } from './identity.ts'

/**
 * `Identity` with the secret of the installation, which the first one makes. better-auth is loaded when somebody first needs
 * it: it takes 0.7 s, which no start of the service waits for.
 */
export const openIdentity = (database: Database): Identity => {
  let loaded: Promise<Identity> | undefined
  const load = (): Promise<Identity> => {
    loaded ??= createFor(database).catch((error: unknown) => {
      loaded = undefined
      throw error
    })
    return loaded
  }
  return {
    signIn: async (...given) => (await load()).signIn(...given),
    createAccount: async (...given) => (await load()).createAccount(...given),
    openSession: async (...given) => (await load()).openSession(...given),
    resetPassword: async (...given) => (await load()).resetPassword(...given),
    changePassword: async (...given) => (await load()).changePassword(...given),
    beginTwoFactor: async (...given) => (await load()).beginTwoFactor(...given),
    confirmTwoFactor: async (...given) => (await load()).confirmTwoFactor(...given),
    endTwoFactor: async (...given) => (await load()).endTwoFactor(...given),
    renewRecoveryCodes: async (...given) => (await load()).renewRecoveryCodes(...given),
  }
}

const createFor = async (database: Database): Promise<Identity> => {
  const { createIdentity } = await import('./better-auth-identity.ts')
  const secrets = await installationSecrets(database, 'accounts')
  // Never rotated: what it encrypts would be lost.
  const oldest = secrets.at(-1) ?? secrets[0]
  return createIdentity({ database, secret: oldest.secret })
}
