import pg from 'pg'
import { DatabaseBusyError, ListCutError, spoilsConnection, sqlStateOf } from './errors.ts'
import type { Lending } from './lending.ts'
import { sendStatement, type Query } from './transaction.ts'

/** Connections that read lists, separate from all others. */
export const maxListConnections = 4
/**
 * Lists of one organization that are read at one time, so that slow lists leave connections to other organizations.
 */
const maxListsOfOrganization = 2
/** Lists of one organization that wait for their turn, and their longest wait; further ones must retry. */
const maxWaitingLists = 1_000
const maxWaitMs = 10_000
/** The server cancels a list after this time. */
export const listTimeoutMs = 5_000

/**
 * A page must be read from an index in order, not collected and sorted; without statistics the planner would sort,
 * because it expects few rows.
 */
export const listSettings =
  ' -c enable_seqscan=off -c enable_bitmapscan=off -c enable_sort=off -c enable_incremental_sort=off'

/** PostgreSQL's SQLSTATE for a statement that took too long. */
const queryCanceled = '57014'

/** The lists of one organization: those being read, and the waiting ones. */
interface Turns {
  reading: number
  /** In order of arrival. */
  readonly waiting: Set<() => void>
}

/** Reads lists over the lent connections. The first value of each names its organization. */
export const createLists = (lending: Lending): Query => {
  const byOrganization = new Map<unknown, Turns>()
  const takeTurn = async (turns: Turns): Promise<void> => {
    if (turns.reading < maxListsOfOrganization) turns.reading += 1
    else if (turns.waiting.size < maxWaitingLists) await waitForTurn(turns)
    else throw new DatabaseBusyError('Too many lists of one organization are asked for.')
  }
  const endTurn = (organization: unknown, turns: Turns): void => {
    const [next] = turns.waiting
    // The next one takes the place of the one that ended.
    if (next) return next()
    turns.reading -= 1
    if (turns.reading === 0) byOrganization.delete(organization)
  }

  return async (statement, values) => {
    const [organization] = values
    const turns = byOrganization.get(organization) ?? { reading: 0, waiting: new Set() }
    byOrganization.set(organization, turns)
    await takeTurn(turns)
    try {
      return await readList(lending, statement, values)
    } finally {
      endTurn(organization, turns)
    }
  }
}

const waitForTurn = ({ waiting }: Turns): Promise<void> =>
  new Promise((resolve, reject) => {
    const begin = (): void => {
      clearTimeout(limit)
      waiting.delete(begin)
      resolve()
    }
    const limit = setTimeout(() => {
      waiting.delete(begin)
      reject(new ListCutError(`a list waited ${maxWaitMs} ms for those before it`))
    }, maxWaitMs)
    waiting.add(begin)
  })

const readList = async (
  lending: Lending,
  ...[statement, values]: Parameters<Query>
): Promise<pg.QueryResult<object>> => {
  const client = await lending.acquire()
  let isSpoilt = false
  try {
    return await sendStatement(client, statement, values)
  } catch (error) {
    isSpoilt = spoilsConnection(error)
    if (sqlStateOf(error) !== queryCanceled) throw error
    throw new ListCutError(`${statement.name} took longer than ${listTimeoutMs} ms`, {
      cause: error,
    })
  } finally {
    lending.release(client, isSpoilt)
  }
}
