import type { z } from 'zod'
import type { Operation } from '../../../src/contract/define-operation.ts'
import type { consoleOperations } from '../../../src/contract/console/operations.ts'

/** The operations that the pages call: only their types, so that neither the table nor Zod is in the page's program. */
export type Table = typeof consoleOperations

export type OperationName = keyof Table

type Members<Schema extends z.ZodType> = z.input<Schema>
type IsEmpty<T> = Record<string, never> extends T ? true : false

/** What a request gives. Path and query are text on the wire: a parameter that is read as a number is given as text. */
type InputOfOperation<O extends Operation> = {
  readonly params: Members<O['params']>
  readonly query: Members<O['query']>
  readonly body: O['method'] extends 'POST' | 'PATCH' ? Members<O['body']> : undefined
}

/** Members that may be left out where nothing in them is required. */
type Loose<T> = {
  readonly [
    Name in keyof T as IsEmpty<T[Name]> extends true
      ? never
      : undefined extends T[Name]
        ? never
        : Name
  ]: T[Name]
} & {
  readonly [
    Name in keyof T as IsEmpty<T[Name]> extends true
      ? Name
      : undefined extends T[Name]
        ? Name
        : never
  ]?: T[Name]
}

export type InputOf<Name extends OperationName> = Loose<InputOfOperation<Table[Name]>>

export type AnswerOf<Name extends OperationName> = z.output<Table[Name]['response']>

export type ReadName = {
  [Name in OperationName]: Table[Name]['method'] extends 'GET' ? Name : never
}[OperationName]

export type WriteName = Exclude<OperationName, ReadName>
