import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import {
  CommitOutcomeUnknownError,
  DatabaseBusyError,
  isRetryable,
  spoilsConnection,
} from './errors.ts'
import { toSetupError } from './setup-error.ts'

const serverError = (code: string, severity = 'ERROR'): pg.DatabaseError =>
  Object.assign(new pg.DatabaseError('from the server', 0, 'error'), { code, severity })
const socketError = (code: string): Error => Object.assign(new Error('from the socket'), { code })

const planChanged = Object.assign(serverError('0A000'), { routine: 'RevalidateCachedQuery' })

const errors: [what: string, error: unknown, retryable: boolean, spoils: boolean][] = [
  ['a read-only server', serverError('25006'), true, true],
  ['lost serialization', serverError('40001'), true, false],
  ['deadlock', serverError('40P01'), true, false],
  ['a server that shuts down', serverError('57P01', 'FATAL'), true, true],
  ['a server that crashed', serverError('57P02', 'FATAL'), true, true],
  ['a server that starts', serverError('57P03', 'FATAL'), true, true],
  ['too many clients', serverError('53300', 'FATAL'), true, true],
  ['a full disk', serverError('53100'), true, false],
  ['a full disk that lets no session begin', serverError('53100', 'FATAL'), true, true],
  ['a server out of memory', serverError('53200'), true, false],
  ['a broken connection', serverError('08006'), true, true],
  ['a lost prepared statement', serverError('26000'), true, true],
  ['a plan that a migration outdated', planChanged, true, true],
  ['another unsupported feature', serverError('0A000'), false, false],
  ['a broken unique index', serverError('23505'), false, false],
  ['a statement that took too long', serverError('57014'), false, false],
  ['a wrong password', serverError('28P01', 'FATAL'), false, true],
  ['a refused socket', socketError('ECONNREFUSED'), true, true],
  ['a reset socket', socketError('ECONNRESET'), true, true],
  ['a socket that is not there', socketError('ENOENT'), true, true],
  ['a cut connection', new Error('Connection terminated unexpectedly'), true, true],
  ['a pool that has none left', new Error('timeout exceeded when trying to connect'), true, true],
  ['both addresses of a name', new AggregateError([socketError('ECONNREFUSED')]), true, true],
  ['a cause within', new Error('wrapped', { cause: serverError('25006') }), true, true],
  ['an unknown commit', new CommitOutcomeUnknownError('lost'), true, true],
  ['a long queue', new DatabaseBusyError('busy'), true, true],
  ['a bug', new TypeError('undefined is not a function'), false, true],
  ['no error at all', 'text', false, true],
]

for (const [what, error, retryable, spoils] of errors)
  test(`${what} is ${retryable ? '' : 'not '}retryable and ${spoils ? 'ends' : 'keeps'} the connection`, () => {
    assert.equal(isRetryable(error), retryable)
    assert.equal(spoilsConnection(error), spoils)
  })

const sentences: [detail: unknown, message: RegExp][] = [
  [
    'initdb: error: could not write: No space left on device\n',
    /^The disk that holds \/d is full: free/,
  ],
  [new Error("EACCES: permission denied, mkdir '/d'"), /^This user may not write to \/d: give it/],
  [new Error("ENOTDIR: not a directory, mkdir '/d'"), /^\/d cannot be a folder, because a file is/],
  [
    'LOG: x\nFATAL: could not map memory\n',
    /^Could not start in \/d: FATAL: could not map memory\. Set/,
  ],
]

for (const [detail, message] of sentences)
  test(`an administrator reads ${message.source}`, () => {
    const error = toSetupError('start', '/d', detail)
    assert.match(error.message, message)
    assert.equal(toSetupError('start again', '/e', error), error)
  })
