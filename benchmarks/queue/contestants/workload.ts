import pg from 'pg'
import { maxCallsPerClaim } from '../../../src/dispatch/claim/claim-turn.ts'
import type { ContestFigures } from '../contest.ts'
import type { Connection } from '../stand.ts'

/** What every contestant does. */
export const backlog = 100_000
export const enqueue = { atOnce: 32, forMs: 3_000 } as const
export const claim = { atOnce: 4, forMs: 3_000 } as const
/** The maximum claim of the product's dispatcher. */
export const jobsPerClaim = maxCallsPerClaim

export const serverOfArguments = (): Connection => JSON.parse(process.argv[2] ?? '') as Connection

/** A separate database for the duration. */
export const withDatabase = async (
  name: string,
  work: (connection: Connection) => Promise<ContestFigures>,
): Promise<void> => {
  const server = serverOfArguments()
  const admin = new pg.Client(server)
  await admin.connect()
  await admin.query(`create database ${name}`)
  try {
    console.log(JSON.stringify(await work({ ...server, database: name })))
  } finally {
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  }
}

/** Statistics for all its tables, as autovacuum would compute them a little later. */
export const analyzeAll = async (connection: Connection): Promise<void> => {
  const client = new pg.Client(connection)
  await client.connect()
  await client.query('vacuum analyze')
  await client.end()
}
