import { ApiError } from '../contract/api-error.ts'
import type { Health } from '../contract/console/health.ts'
import type { ConsoleOperationName, consoleOperations } from '../contract/console/operations.ts'
import type { Handler, Handlers, OperationContext } from '../contract/define-operation.ts'
import type { OrganizationId } from '../contract/organization-id.ts'
import type { SessionPrincipal } from '../contract/principal.ts'
import type { Database, Queryable, Transaction } from '../database/database.ts'
import { recordChange, type Actor, type Change } from '../domains/audit/record-change.ts'
import { InvalidFileError } from '../domains/organizations/invalid-file.ts'
import type { EndCall } from '../domains/calls/lifecycle/end-call.ts'
import type { SecretBox } from '../domains/organizations/secret-box.ts'
import { OperatorError } from '../domains/organizations/operator-error.ts'
import type { StorageQuotas } from '../domains/organizations/storage-quotas.ts'
import type { DownloadUrls } from '../domains/recordings/recording-resource.ts'
import type { CallKey } from '../domains/results/transcript-store.ts'
import type { Asker, ClientOrigin, Identity } from '../identity/identity.ts'
import type { ObjectStorage } from '../storage/object-storage.ts'
import type { AudioPurpose, TalkSource } from './live/audio-doors.ts'
import type { Tickets } from './live/tickets.ts'
import type { Logger } from '../runtime/logger.ts'
import type { Clock } from '../runtime/time.ts'
import { readCookie, sessionCookie, sessionCookieName } from '../identity/session-cookie.ts'

/** What handlers need besides the database of their request. */
export interface ConsoleParts {
  readonly database: Database
  readonly identity: Identity
  /** What the installation is at; bounded in its time. */
  readonly health: () => Promise<Health>
  /** Where programs reach the API. */
  readonly apiUrl: () => string
  /** Where browsers reach the dashboard. */
  readonly origin: () => string
  readonly quotas: StorageQuotas
  readonly clock: Clock
  /** For what goes on after its request. */
  readonly logger: Logger
  readonly endCall: EndCall
  readonly downloadUrls: DownloadUrls
  /** Retries the exhausted results of a call; throws `OperatorError` where there are none. */
  readonly reprocessCall: (tx: Transaction, call: CallKey) => Promise<void>
  /** Where recordings and their waveforms are. */
  readonly storage: Pick<ObjectStorage, 'open'>
  /** A page shows it now: its changes are told to the browsers of the organization, whatever its age. */
  readonly showToFollowers: (
    organizationId: OrganizationId,
    kind: 'call' | 'batch' | 'run',
    id: string,
  ) => void
  /** The conversations that this process holds. */
  readonly live: LiveCalls
  readonly trunks: {
    /** Seals their passwords. */
    readonly box: SecretBox
    /** Asks each gateway from this machine. Throws `OperatorError` for an unknown trunk. */
    readonly test: (db: Queryable, name: string) => Promise<TrunkTestResult>
  }
  /** Agents that can be talked to from a browser. */
  readonly talks: Pick<TalkSource, 'problemOf'>
  /** For connections that carry sound. */
  readonly tickets: Pick<Tickets<AudioPurpose>, 'issue'>
}

/** What the gateways of a trunk said. */
interface TrunkTestResult {
  readonly trunk: string
  readonly ok: boolean
  readonly gateways: readonly {
    readonly uri: string
    readonly method: 'OPTIONS' | 'REGISTER' | 'INVITE'
    readonly ok: boolean
    readonly sip_status: number | null
    readonly round_trip_ms: number | null
    readonly message: string
  }[]
}

/** What of live calls only the process knows that carries them. */
export interface LiveCalls {
  readonly isHere: (call: CallKey) => boolean
}

export type ConsoleHandler<Name extends ConsoleOperationName> = Handler<
  (typeof consoleOperations)[Name],
  Queryable,
  Transaction,
  ConsoleParts
>

/** Every handler of the dashboard. */
export type ConsoleHandlers = Handlers<
  typeof consoleOperations,
  Queryable,
  Transaction,
  ConsoleParts
>

type Context = OperationContext<Queryable, Pick<ConsoleParts, 'origin'>>

/** The session that asks. The table of operations lets nobody else in. */
export const sessionOf = ({ principal }: Pick<Context, 'principal'>): SessionPrincipal => {
  if (principal.kind !== 'session') throw new Error('The operation is for sessions only.')
  return principal
}

export const clientOf = ({ visit }: Pick<Context, 'visit'>): ClientOrigin => ({
  address: visit.address(),
  userAgent: visit.header('user-agent') ?? '',
})

/** The session that asks for a change of its own account. */
export const askerOf = (context: Context): Asker => {
  const { userId, email, organizationId } = sessionOf(context)
  const cookie = readCookie(context.visit.header('cookie'), sessionCookieName) ?? ''
  return { accountId: userId, email, organizationId, cookie, client: clientOf(context) }
}

/** Cookies are for https only where browsers come by https. */
export const isSecure = ({ parts }: Pick<Context, 'parts'>): boolean =>
  parts.origin().startsWith('https:')

/** Hands the session's cookie to the browser. */
export const keepSession = (context: Context, cookie: string): void => {
  context.visit.cookie = sessionCookie(cookie, isSecure(context))
}

export const actorOf = (context: Pick<Context, 'principal' | 'visit'>): Actor => {
  const { userId, email } = sessionOf(context)
  return { kind: 'account', id: userId, name: email, address: context.visit.address() }
}

/** Writes a change of the asking session into the audit log. */
export const note = (
  tx: Queryable,
  context: Pick<Context, 'principal' | 'visit'>,
  change: Omit<Change, 'actor' | 'organizationId'>,
): Promise<void> =>
  recordChange(tx, {
    ...change,
    organizationId: sessionOf(context).organizationId,
    actor: actorOf(context),
  })

/** What the domains refuse an operator, as the caller is told. */
export const asTold = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    if (error instanceof InvalidFileError)
      throw new ApiError('validation_error', error.lines.slice(0, maxLines).join('\n'), {
        fields: error.problems
          .slice(0, maxLines)
          .map(({ path }) => ({ path, code: 'invalid_format' })),
      })
    if (error instanceof OperatorError)
      throw new ApiError('resource_state_conflict', error.lines.join('\n'))
    throw error
  }
}

/** Problems of a file that are told. */
const maxLines = 50
