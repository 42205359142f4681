import type { OrganizationId } from '../contract/organization-id.ts'
import { betterAuth } from 'better-auth/minimal'
import { twoFactor } from 'better-auth/plugins/two-factor'
import { ApiError, invalidField } from '../contract/api-error.ts'
import { maxPasswordLength, minPasswordLength } from '../contract/password-length.ts'
import type { Database, Queryable, Transaction } from '../database/database.ts'
import { newId } from '../runtime/ids.ts'
import { told } from './auth-refusals.ts'
import { authTables, authWithin, createAuthAdapter } from './auth-adapter.ts'
import { findAccountByEmail } from './account-store.ts'
import type {
  Asker,
  ClientOrigin,
  Identity,
  OpenedSession,
  RecordChange,
  SignIn,
  SignInOutcome,
} from './identity.ts'
import {
  cookieHeader,
  sessionCookieName,
  signedCookie,
  tokenOf,
  valueOfSetCookie,
} from './session-cookie.ts'
import { describeSession, sessionDays } from './session-store.ts'
import { createSignInAttempts } from './sign-in-attempts.ts'
import { createTurnstile } from './turnstile.ts'

/** Passwords that are checked at one time, each with 32 MiB of scrypt, and that wait for it. */
const maxHashing = 2
const maxWaiting = 100

interface IdentityOptions {
  readonly database: Database
  /** Signs sessions and encrypts second factors. */
  readonly secret: Buffer
}

/** `Identity` by better-auth, over tables of our migrations. No route of better-auth's own is served. */
class BetterAuthIdentity implements Identity {
  readonly #database: Database
  readonly #auth: ReturnType<typeof createAuth>
  readonly #attempts: ReturnType<typeof createSignInAttempts>
  readonly #turnstile = createTurnstile({ maxInside: maxHashing, maxWaiting })

  constructor({ database, secret }: IdentityOptions) {
    this.#database = database
    this.#auth = createAuth(database, secret)
    this.#attempts = createSignInAttempts(database)
  }

  async signIn(given: SignIn, client: ClientOrigin): Promise<SignInOutcome> {
    await this.#attempts.take(given.email, client.address)
    const outcome = await this.#turnstile(() => told(() => this.#checkSignIn(given, client)))
    if (outcome.kind === 'signed_in') await this.#attempts.forgive(given.email, client.address)
    else await this.#attempts.giveBack(given.email, client.address)
    return outcome
  }

  async openSession(
    tx: Transaction,
    accountId: string,
    client: ClientOrigin,
  ): Promise<OpenedSession> {
    const context = await this.#auth.$context
    const { token } = await authWithin(tx, () => context.internalAdapter.createSession(accountId))
    await describeSession(tx, token, undefined, client)
    return { accountId, cookie: signedCookie(token, context.secret) }
  }

  async createAccount(
    tx: Transaction,
    { name, email, password }: Parameters<Identity['createAccount']>[1],
  ): ReturnType<Identity['createAccount']> {
    if (await findAccountByEmail(tx, email))
      throw new ApiError('resource_state_conflict', 'This e-mail address has an account already.')
    const context = await this.#auth.$context
    const hashed = await this.#turnstile(() => context.password.hash(password))
    const user = await authWithin(tx, async () => {
      const made = await context.internalAdapter.createUser(
        { name, email, emailVerified: false },
        { method: 'email-password' },
      )
      await context.internalAdapter.linkAccount({
        userId: made.id,
        providerId: 'credential',
        accountId: made.id,
        password: hashed,
      })
      return made
    })
    return {
      id: user.id,
      name,
      email: user.email,
      hasTwoFactor: false,
      administersInstallation: false,
    }
  }

  async resetPassword(tx: Transaction, accountId: string, password: string): Promise<void> {
    const context = await this.#auth.$context
    const hashed = await this.#turnstile(() => context.password.hash(password))
    await authWithin(tx, async () => {
      await context.internalAdapter.updatePassword(accountId, hashed)
      await context.internalAdapter.deleteUserSessions(accountId)
    })
  }

  changePassword(
    asker: Asker,
    { current, wanted }: Parameters<Identity['changePassword']>[1],
    record: RecordChange,
  ): Promise<OpenedSession> {
    return this.#guarded(asker, 'password', record, async (tx) => {
      const { headers } = await this.#auth.api.changePassword({
        body: { currentPassword: current, newPassword: wanted, revokeOtherSessions: true },
        headers: requestHeaders(asker),
        returnHeaders: true,
      })
      return reopened(tx, headers, asker)
    })
  }

  beginTwoFactor(
    asker: Asker,
    password: string,
    record: RecordChange,
  ): ReturnType<Identity['beginTwoFactor']> {
    return this.#guarded(asker, 'password', record, async () => {
      const made = await this.#auth.api.enableTwoFactor({
        body: { password, method: 'totp' },
        headers: requestHeaders(asker),
      })
      if (made.method !== 'totp') throw new Error('No second factor was begun.')
      return { uri: made.totpURI, recoveryCodes: made.backupCodes }
    })
  }

  confirmTwoFactor(asker: Asker, code: string, record: RecordChange): Promise<OpenedSession> {
    return this.#guarded(asker, 'code', record, async (tx) => {
      const { headers } = await this.#auth.api.verifyTOTP({
        body: { code },
        headers: requestHeaders(asker),
        returnHeaders: true,
      })
      return reopened(tx, headers, asker)
    })
  }

  endTwoFactor(asker: Asker, password: string, record: RecordChange): Promise<OpenedSession> {
    return this.#guarded(asker, 'password', record, async (tx) => {
      const { headers } = await this.#auth.api.disableTwoFactor({
        body: { password },
        headers: requestHeaders(asker),
        returnHeaders: true,
      })
      return reopened(tx, headers, asker)
    })
  }

  renewRecoveryCodes(
    asker: Asker,
    password: string,
    record: RecordChange,
  ): ReturnType<Identity['renewRecoveryCodes']> {
    return this.#guarded(asker, 'password', record, async () => {
      const { backupCodes } = await this.#auth.api.generateBackupCodes({
        body: { password },
        headers: requestHeaders(asker),
      })
      return backupCodes
    })
  }

  async #checkSignIn(
    { email, password, code }: SignIn,
    client: ClientOrigin,
  ): Promise<SignInOutcome> {
    const { api } = this.#auth
    const first = await api.signInEmail({ body: { email, password }, returnHeaders: true })
    if (!('twoFactorRedirect' in first.response)) {
      const accountId = first.response.user.id
      const session = await opened(this.#database, first.headers, accountId, client)
      return { kind: 'signed_in', ...session }
    }
    if (code === undefined) return { kind: 'code_required' }
    const request = { headers: cookieHeader(first.headers), returnHeaders: true as const }
    const second = /^\d{6}$/.test(code)
      ? await api.verifyTOTP({ ...request, body: { code } })
      : await api.verifyBackupCode({ ...request, body: { code } })
    const accountId = second.response.user.id
    const session = await opened(this.#database, second.headers, accountId, client)
    return { kind: 'signed_in', ...session }
  }

  /** One transaction of a session that gives a password or a code: it has as many guesses as a sign-in. */
  async #guarded<T>(
    { email, client }: Asker,
    path: 'password' | 'code',
    record: RecordChange,
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T> {
    await this.#attempts.take(email, client.address)
    const inOne = (tx: Transaction) =>
      authWithin(tx, async () => {
        const done = await told(
          () => work(tx),
          () => invalidField(path, 'invalid_format', 'is wrong'),
        )
        await record(tx)
        return done
      })
    const done = await this.#turnstile(() => this.#database.transaction(inOne))
    await this.#attempts.giveBack(email, client.address)
    return done
  }
}

/** The session that an answer of better-auth opened. */
const opened = async (
  db: Queryable,
  headers: Headers,
  accountId: string,
  client: ClientOrigin,
  organizationId?: OrganizationId,
): Promise<OpenedSession> => {
  const cookie = valueOfSetCookie(headers, sessionCookieName)
  const token = cookie === undefined ? undefined : tokenOf(cookie)
  if (cookie === undefined || token === undefined) throw new Error('No session was opened.')
  await describeSession(db, token, organizationId, client)
  return { accountId, cookie }
}

const reopened = (tx: Transaction, headers: Headers, asker: Asker): Promise<OpenedSession> =>
  opened(tx, headers, asker.accountId, asker.client, asker.organizationId)

const requestHeaders = ({ cookie }: Asker): Headers =>
  new Headers({ cookie: `${sessionCookieName}=${cookie}` })

const createAuth = (database: Database, secret: Buffer) =>
  betterAuth({
    appName: 'Outdial',
    // Of no use to the calls that are made here; better-auth would take it from the environment.
    baseURL: 'http://127.0.0.1',
    secret: secret.toString('base64'),
    database: createAuthAdapter(database),
    user: { modelName: authTables.user },
    account: { modelName: authTables.account },
    verification: { modelName: authTables.verification },
    session: {
      modelName: authTables.session,
      expiresIn: sessionDays * 24 * 3600,
      disableSessionRefresh: true,
    },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength,
      maxPasswordLength,
    },
    plugins: [twoFactor({ issuer: 'Outdial', twoFactorTable: authTables.twoFactor })],
    advanced: {
      cookiePrefix: 'outdial',
      useSecureCookies: false,
      cookies: { session_token: { name: sessionCookieName } },
      database: { generateId: () => newId() },
    },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { disabled: true },
  })

export const createIdentity = (options: IdentityOptions): Identity =>
  new BetterAuthIdentity(options)
