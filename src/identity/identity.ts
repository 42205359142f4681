import type { OrganizationId } from '../contract/organization-id.ts'
import type { Transaction } from '../database/database.ts'

/** Where a request came from. */
export interface ClientOrigin {
  readonly address: string
  readonly userAgent: string
}

export interface Account {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly hasTwoFactor: boolean
  /** The installation's first owner: trunks, providers, health. */
  readonly administersInstallation: boolean
}

/** A session just opened. */
export interface OpenedSession {
  readonly accountId: string
  /** The value of the session's cookie, told here and nowhere again. */
  readonly cookie: string
}

export interface SignIn {
  readonly email: string
  readonly password: string
  /** Of an authenticator, or a recovery code; asked for where the account has a second factor. */
  readonly code?: string | undefined
}

export type SignInOutcome =
  | ({ readonly kind: 'signed_in' } & OpenedSession)
  /** The password is right; the same request with a code opens the session. */
  | { readonly kind: 'code_required' }

export interface NewAccount {
  readonly name: string
  readonly email: string
  readonly password: string
}

/** What an authenticator is set up with, told once. */
interface TwoFactorSetup {
  readonly uri: string
  readonly recoveryCodes: readonly string[]
}

/**
 * Who people are: accounts with a password, sessions, and a second factor. What an account may do in an organization is
 * a row of `members` and none of this. Every method throws `ApiError` for what the caller is told.
 */
export interface Identity {
  /**
   * Opens a session. Ten failures of one account from one address within ten minutes are answered with 429, the right
   * password too. Writes outside of the caller's transaction: a failure is counted.
   */
  signIn(given: SignIn, client: ClientOrigin): Promise<SignInOutcome>
  /** Throws 409 where the address has an account. */
  createAccount(tx: Transaction, account: NewAccount): Promise<Account>
  /** Opens a session without a password: for an account that was just made. */
  openSession(tx: Transaction, accountId: string, client: ClientOrigin): Promise<OpenedSession>
  /** Sets a password without knowing the old one, and ends every session of the account. */
  resetPassword(tx: Transaction, accountId: string, password: string): Promise<void>
  /** Ends every session of the account and opens another for the one who asks. */
  changePassword(
    asker: Asker,
    passwords: { readonly current: string; readonly wanted: string },
    record: RecordChange,
  ): Promise<OpenedSession>
  /** Begins to set up a second factor; it holds once `confirmTwoFactor` was given a code. */
  beginTwoFactor(asker: Asker, password: string, record: RecordChange): Promise<TwoFactorSetup>
  confirmTwoFactor(asker: Asker, code: string, record: RecordChange): Promise<OpenedSession>
  endTwoFactor(asker: Asker, password: string, record: RecordChange): Promise<OpenedSession>
  renewRecoveryCodes(
    asker: Asker,
    password: string,
    record: RecordChange,
  ): Promise<readonly string[]>
}

/** The session that asks for a change of its own account. */
export interface Asker {
  readonly accountId: string
  readonly email: string
  readonly organizationId: OrganizationId
  /** The value of its cookie. */
  readonly cookie: string
  readonly client: ClientOrigin
}

/** Writes what belongs to a change into its transaction. */
export type RecordChange = (tx: Transaction) => Promise<void>
