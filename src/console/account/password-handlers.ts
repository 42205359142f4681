import type { Transaction } from '../../database/database.ts'
import { askerOf, keepSession, note, sessionOf, type ConsoleHandler } from '../console-handler.ts'

const done = { status: 'done' } as const

type Context = Parameters<ConsoleHandler<'changePassword'>>[1]

/** Writes a change of the asking account into its transaction. */
const noting =
  (context: Context, action: string) =>
  (tx: Transaction): Promise<void> =>
    note(tx, context, { action, target: { type: 'account', id: sessionOf(context).userId } })

export const changePassword: ConsoleHandler<'changePassword'> = async ({ body }, context) => {
  const { cookie } = await context.parts.identity.changePassword(
    askerOf(context),
    { current: body.current, wanted: body.password },
    noting(context, 'account.change_password'),
  )
  keepSession(context, cookie)
  return done
}

export const beginTwoFactor: ConsoleHandler<'beginTwoFactor'> = async ({ body }, context) => {
  const { uri, recoveryCodes } = await context.parts.identity.beginTwoFactor(
    askerOf(context),
    body.password,
    noting(context, 'account.begin_two_factor'),
  )
  return { uri, recovery_codes: [...recoveryCodes] }
}

export const confirmTwoFactor: ConsoleHandler<'confirmTwoFactor'> = async ({ body }, context) => {
  const { cookie } = await context.parts.identity.confirmTwoFactor(
    askerOf(context),
    body.code,
    noting(context, 'account.confirm_two_factor'),
  )
  keepSession(context, cookie)
  return done
}

export const endTwoFactor: ConsoleHandler<'endTwoFactor'> = async ({ body }, context) => {
  const { cookie } = await context.parts.identity.endTwoFactor(
    askerOf(context),
    body.password,
    noting(context, 'account.end_two_factor'),
  )
  keepSession(context, cookie)
  return done
}

export const renewRecoveryCodes: ConsoleHandler<'renewRecoveryCodes'> = async (
  { body },
  context,
) => {
  const codes = await context.parts.identity.renewRecoveryCodes(
    askerOf(context),
    body.password,
    noting(context, 'account.renew_recovery_codes'),
  )
  return { recovery_codes: [...codes] }
}
