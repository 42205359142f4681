import type { OrganizationId } from '../contract/organization-id.ts'
import { betterAuth } from 'better-auth/minimal'
import { APIError } from 'better-auth/api'
import { twoFactor } from 'better-auth/plugins/two-factor'
import { ApiError, invalidField } from '../contract/api-error.ts'
import { maxPasswordLength, minPasswordLength } from '../contract/password-length.ts'
import type { Database, Queryable, Transaction } from '../database/database.ts'
import { newId } from '../runtime/ids.ts'
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
export const createIdentity = ({ database, secret }: IdentityOptions): Identity => {
  const auth = createAuth(database, secret)
  const attempts = createSignInAttempts(database)
  const turnstile = createTurnstile({ maxInside: maxHashing, maxWaiting })

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

  const signIn = async (
    { email, password, code }: SignIn,
    client: ClientOrigin,
  ): Promise<SignInOutcome> => {
    const first = await auth.api.signInEmail({
      body: { email, password },
      returnHeaders: true,
    })
    const isWhole = !('twoFactorRedirect' in first.response)
    if (isWhole)
      return {
        kind: 'signed_in',
        ...(await opened(database, first.headers, first.response.user.id, client)),
      }
    if (code === undefined) return { kind: 'code_required' }
    const request = { headers: cookieHeader(first.headers), returnHeaders: true as const }
    const second = /^\d{6}$/.test(code)
      ? await auth.api.verifyTOTP({ ...request, body: { code } })
      : await auth.api.verifyBackupCode({ ...request, body: { code } })
    return {
      kind: 'signed_in',
      ...(await opened(database, second.headers, second.response.user.id, client)),
    }
  }

  /** One transaction of a session that gives a password or a code: it has as many guesses as a sign-in. */
  const guarded = async <T>(
    { email, client }: Asker,
    path: 'password' | 'code',
    record: RecordChange,
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T> => {
    await attempts.take(email, client.address)
    const inOne = (tx: Transaction) =>
      authWithin(tx, async () => {
        const done = await told(
          () => work(tx),
          () => invalidField(path, 'invalid_format', 'is wrong'),
        )
        await record(tx)
        return done
      })
    const done = await turnstile(() => database.transaction(inOne))
    await attempts.giveBack(email, client.address)
    return done
  }

  return {
    async signIn(given, client) {
      await attempts.take(given.email, client.address)
      const outcome = await turnstile(() => told(() => signIn(given, client)))
      if (outcome.kind === 'signed_in') await attempts.forgive(given.email, client.address)
      else await attempts.giveBack(given.email, client.address)
      return outcome
    },
    async openSession(tx, accountId, client) {
      const context = await auth.$context
      const { token } = await authWithin(tx, () => context.internalAdapter.createSession(accountId))
      await describeSession(tx, token, undefined, client)
      return { accountId, cookie: signedCookie(token, context.secret) }
    },
    async createAccount(tx, { name, email, password }) {
      if (await findAccountByEmail(tx, email))
        throw new ApiError('resource_state_conflict', 'This e-mail address has an account already.')
      const context = await auth.$context
      const hashed = await turnstile(() => context.password.hash(password))
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
    },
    async resetPassword(tx, accountId, password) {
      const context = await auth.$context
      const hashed = await turnstile(() => context.password.hash(password))
      await authWithin(tx, async () => {
        await context.internalAdapter.updatePassword(accountId, hashed)
        await context.internalAdapter.deleteUserSessions(accountId)
      })
    },
    changePassword: (asker, { current, wanted }, record) =>
      guarded(asker, 'password', record, async (tx) => {
        const { headers } = await auth.api.changePassword({
          body: { currentPassword: current, newPassword: wanted, revokeOtherSessions: true },
          headers: requestHeaders(asker),
          returnHeaders: true,
        })
        return reopened(tx, headers, asker)
      }),
    beginTwoFactor: (asker, password, record) =>
      guarded(asker, 'password', record, async () => {
        const made = await auth.api.enableTwoFactor({
          body: { password, method: 'totp' },
          headers: requestHeaders(asker),
        })
        if (made.method !== 'totp') throw new Error('No second factor was begun.')
        return { uri: made.totpURI, recoveryCodes: made.backupCodes }
      }),
    confirmTwoFactor: (asker, code, record) =>
      guarded(asker, 'code', record, async (tx) => {
        const { headers } = await auth.api.verifyTOTP({
          body: { code },
          headers: requestHeaders(asker),
          returnHeaders: true,
        })
        return reopened(tx, headers, asker)
      }),
    endTwoFactor: (asker, password, record) =>
      guarded(asker, 'password', record, async (tx) => {
        const { headers } = await auth.api.disableTwoFactor({
          body: { password },
          headers: requestHeaders(asker),
          returnHeaders: true,
        })
        return reopened(tx, headers, asker)
      }),
    renewRecoveryCodes: (asker, password, record) =>
      guarded(asker, 'password', record, async () => {
        const { backupCodes } = await auth.api.generateBackupCodes({
          body: { password },
          headers: requestHeaders(asker),
        })
        return backupCodes
      }),
  }
}

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

const wrongCredentials = (): ApiError =>
  new ApiError('authentication_required', 'The e-mail address, the password or the code is wrong.')

/** What better-auth refuses, as this service says it. */
const told = async <T>(work: () => Promise<T>, wrong = wrongCredentials): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw error instanceof APIError ? refusalOf(error, wrong) : error
  }
}

const refusalOf = (error: APIError, wrong: () => ApiError): Error => {
  const code = (error.body as { code?: string } | undefined)?.code ?? ''
  if (code === 'ACCOUNT_TEMPORARILY_LOCKED')
    return new ApiError(
      'rate_limit_exceeded',
      'Too many codes were wrong. Wait, then try again.',
      undefined,
      { retryAfterSeconds: 900 },
    )
  if (code === 'PASSWORD_TOO_SHORT') return invalidField('password', 'too_short')
  if (code === 'PASSWORD_TOO_LONG') return invalidField('password', 'too_long')
  if (/TOTP|TWO_FACTOR_NOT|BACKUP_CODES_NOT/.test(code) && code.includes('ENABLED'))
    return new ApiError(
      'resource_state_conflict',
      code === 'TOTP_ALREADY_ENABLED'
        ? 'The second factor is set up already.'
        : 'There is no second factor to do this with.',
    )
  if (error.statusCode >= 500) return error
  return wrong()
}
