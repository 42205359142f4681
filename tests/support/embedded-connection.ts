import type pg from 'pg'
import { databaseUser } from '../../src/database/embedded-cluster.ts'
import { prepareFolders } from '../../src/database/embedded-folders.ts'

/** The embedded database of an installation, without the program. */
export const embeddedConnection = (data: string): pg.ClientConfig => ({
  host: prepareFolders(data).sockets,
  port: 5432,
  user: databaseUser,
  database: 'postgres',
})
