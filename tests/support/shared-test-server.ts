/** The background process behind `connectToTestServer`: runs PostgreSQL until it has been unused for a while. */
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { connectionFile, idleLimitMs, sharedFolder, startTestServer } from './test-server.ts'

const checkIntervalMs = 1_000

const server = await startTestServer(sharedFolder)
writeFileSync(`${connectionFile}.new`, JSON.stringify(server.connection))
renameSync(`${connectionFile}.new`, connectionFile)

let isStopRequested = false
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => (isStopRequested = true))

const client = new pg.Client(server.connection)
await client.connect()
let lastUseMs = performance.now()
while (!isStopRequested && performance.now() - lastUseMs < idleLimitMs) {
  await sleep(checkIntervalMs)
  const { rowCount } = await client.query(
    "select from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
  )
  if (rowCount !== 0) lastUseMs = performance.now()
}
rmSync(connectionFile)
await client.end()
await server.stop()
rmSync(sharedFolder, { recursive: true, force: true })
