import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startEmbedded, type EmbeddedPostgres } from '../../src/database/embedded-postgres.ts'

/** The test runner puts the connection of its server here, as JSON. */
export const testServerVariable = 'OUTDIAL_TEST_DATABASE'

/** A server without connections for this long ends, and its folder is deleted. */
export const idleLimitMs = 30_000
const startPatienceMs = 30_000

const checkout = join(import.meta.dirname, '../..')
const checkoutKey = createHash('sha256').update(checkout).digest('hex').slice(0, 8)
export const sharedFolder = join(
  tmpdir(),
  `outdial-tests-${process.getuid?.() ?? 0}-${checkoutKey}`,
)
export const connectionFile = join(sharedFolder, 'connection.json')

/**
 * A power cut costs tests nothing that matters: no fsync. Many processes connect at once. A template is copied by the
 * kernel (`clone`), in 0.07 s of processor time instead of 0.17 s.
 */
export const startTestServer = async (folder: string): Promise<EmbeddedPostgres> => {
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o711)
  const settings = {
    max_connections: '300',
    shared_buffers: '128MB',
    autovacuum_naptime: '60s',
    file_copy_method: 'clone',
  }
  return startEmbedded(folder, { isDurable: false, settings })
}

/**
 * The PostgreSQL that the tests of this run share: the runner's if there is one, else one that the first test file
 * starts in the background and that ends by itself when unused.
 */
export const connectToTestServer = async (): Promise<pg.ClientConfig> => {
  const given = process.env[testServerVariable]
  if (given) return JSON.parse(given) as pg.ClientConfig
  const deadlineMs = performance.now() + startPatienceMs
  let isSpawned = false
  while (performance.now() < deadlineMs) {
    const connection = await findSharedServer()
    if (connection) return connection
    if (!isSpawned) spawnSharedServer()
    isSpawned = true
    await sleep(25)
  }
  throw new Error(`The PostgreSQL for tests did not start; remove ${sharedFolder} and try again.`)
}

const findSharedServer = async (): Promise<pg.ClientConfig | undefined> => {
  try {
    const connection = JSON.parse(readFileSync(connectionFile, 'utf8')) as pg.ClientConfig
    const client = new pg.Client(connection)
    await client.connect()
    await client.end()
    return connection
  } catch {
    return undefined
  }
}

/** If several are spawned at once, the instance lock lets one live. */
const spawnSharedServer = (): void => {
  spawn(process.execPath, [join(import.meta.dirname, 'shared-test-server.ts')], {
    detached: true,
    stdio: 'ignore',
  }).unref()
}
