import { z } from 'zod'
import type { Bucket } from './buckets.ts'
import type { ErrorCode } from './errors.ts'
import type { Position } from './paging.ts'
import type { Principal, Visit } from './principal.ts'
import type { Role } from './roles.ts'
import type { Scope } from './scopes.ts'
import type { ServiceVersion } from './versions.ts'
import type { OrganizationId } from './organization-id.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
/** Whether a request of this method has a body. One that DELETE or GET comes with has no meaning (RFC 9110 9.3) and is not read. */
export const hasBody = (method: Method): boolean => method === 'POST' || method === 'PATCH'

type SuccessStatus = 200 | 201 | 202
export type IdempotencyRule = 'required' | 'optional' | 'none'

/** An object without members: the body of every action, the parameters of a path without any. */
export const nothing = z.strictObject({}).meta({ description: 'An empty object.' })

/** One operation as data. Routing, validation, documentation and the generic tests derive from it. */
export interface Operation<
  M extends Method = Method,
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
  Statuses extends readonly SuccessStatus[] = readonly SuccessStatus[],
  Paged extends boolean = boolean,
  Own extends boolean = boolean,
> {
  readonly method: M
  /** Path template: `/calls/{call_id}`. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly description: string
  /** Scopes of a key, of which any one suffices; none where keys have no access. */
  readonly anyScope: readonly Scope[]
  /** Roles of a login, of which any one suffices; none where logins have no access. */
  readonly anyRole: readonly Role[]
  /** Whether a visitor who has not signed in has access. */
  readonly open: boolean
  /** Whether a login must also administer the installation, whatever its role. */
  readonly ofInstallation: boolean
  /** Whether the handler opens its own transactions: what it notes of a refusal must outlast it. */
  readonly ownTransactions: Own
  readonly bucket: Bucket
  readonly idempotency: IdempotencyRule
  readonly params: Params
  readonly query: Query
  /** Read where the method has a body. */
  readonly body: Body
  readonly response: Response
  readonly statuses: Statuses
  /** Whether the response carries `next_cursor`, which the kernel signs. */
  readonly paged: Paged
  /** Template over the response's members for the `Location` of a 201 or of an accepted create. */
  readonly location: string | undefined
  /** Codes beyond those that follow from the other members. */
  readonly errors: readonly ErrorCode[]
  /** An example response for the documentation. */
  readonly example: unknown
  /** An example body for the documentation. */
  readonly bodyExample: unknown
}

interface Specification<Params, Query, Body, Response, Statuses, Paged, Own> {
  tag: string
  summary: string
  description: string
  scope?: Scope | readonly Scope[]
  role?: readonly Role[]
  open?: boolean
  ofInstallation?: boolean
  ownTransactions?: Own
  bucket: Bucket
  idempotency?: IdempotencyRule
  params?: Params
  query?: Query
  body?: Body
  response: Response
  statuses?: Statuses
  paged?: Paged
  location?: string
  errors?: readonly ErrorCode[]
  example: unknown
  bodyExample?: unknown
}

/** Declares one operation: `op('POST /contacts', { … })`. */
export const op = <
  M extends Method,
  Response extends z.ZodType,
  Params extends z.ZodType = typeof nothing,
  Query extends z.ZodType = typeof nothing,
  Body extends z.ZodType = typeof nothing,
  const Statuses extends readonly SuccessStatus[] = readonly [200],
  Paged extends boolean = false,
  Own extends boolean = false,
>(
  route: `${M} /${string}`,
  specification: Specification<Params, Query, Body, Response, Statuses, Paged, Own>,
): Operation<M, Params, Query, Body, Response, Statuses, Paged, Own> => {
  const [method, path] = route.split(' ') as [M, string]
  const { scope = [], role = [], ...rest } = specification
  return {
    method,
    path,
    open: false,
    ofInstallation: false,
    idempotency: 'none',
    location: undefined,
    errors: [],
    bodyExample: {},
    ...rest,
    anyScope: typeof scope === 'string' ? [scope] : scope,
    anyRole: role,
    // Inference keeps the defaults of the type parameters and of the values in step.
    params: specification.params ?? (nothing as unknown as Params),
    query: specification.query ?? (nothing as unknown as Query),
    body: specification.body ?? (nothing as unknown as Body),
    statuses: specification.statuses ?? ([200] as unknown as Statuses),
    paged: specification.paged ?? (false as Paged),
    ownTransactions: specification.ownTransactions ?? (false as Own),
  }
}

/**
 * What a handler knows about its caller. `Db` is a transaction for every method but GET, unless the operation opens its own; `Parts` is what the handler needs
 * besides, the same for each request.
 */
export interface OperationContext<Db, Parts = unknown> {
  readonly db: Db
  readonly parts: Parts
  readonly organizationId: OrganizationId
  readonly principal: Principal
  readonly visit: Visit
  readonly requestId: string
  readonly version: ServiceVersion
}

type Query<O extends Operation> = O['paged'] extends true
  ? Omit<z.output<O['query']>, 'cursor'> & { readonly cursor?: Position | undefined }
  : z.output<O['query']>

/** Validated path, query and body; the cursor of a page is verified and decoded. */
interface Input<O extends Operation> {
  readonly params: z.output<O['params']>
  readonly query: Query<O>
  readonly body: z.output<O['body']>
}

/** A paged handler answers its body with `next` in the place of `next_cursor`; the kernel signs it. */
type Paged<Body> = Body extends unknown
  ? Omit<Body, 'next_cursor'> & { readonly next: Position | null }
  : never

/** What a handler returns: the response's body; `{status, body}` where the operation has several statuses. */
type Output<O extends Operation> = O['paged'] extends true
  ? Paged<z.input<O['response']>>
  : O['statuses'] extends readonly [unknown]
    ? z.input<O['response']>
    : { readonly status: O['statuses'][number]; readonly body: z.input<O['response']> }

/** Serves one operation. Throws `ApiError` for what the caller is told; anything else is a fault. */
export type Handler<O extends Operation, Read, Write, Parts = unknown> = (
  input: Input<O>,
  context: OperationContext<
    O['method'] extends 'GET' ? Read : O['ownTransactions'] extends true ? Read : Write,
    Parts
  >,
) => Promise<Output<O>>

export type Operations = Readonly<Record<string, Operation>>

/** One handler for each operation of a table; a missing one does not compile. */
export type Handlers<Table extends Operations, Read, Write, Parts = unknown> = {
  readonly [Name in keyof Table]: Handler<Table[Name], Read, Write, Parts>
}
