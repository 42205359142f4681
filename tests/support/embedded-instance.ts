/** A process that runs the embedded PostgreSQL of the folder in its first argument until a stop signal. */
import { connectOrStartEmbedded, startEmbedded } from '../../src/database/embedded-postgres.ts'

const [folder = '', kind = 'service', stateFolder] = process.argv.slice(2)
const start = kind === 'service' ? startEmbedded : connectOrStartEmbedded
const keepAlive = setInterval(() => {}, 1_000_000)
try {
  const postgres = await start(folder, {
    isDurable: false,
    ...(stateFolder === undefined ? {} : { stateFolder }),
  })
  process.stdout.write(`${JSON.stringify({ ...postgres.connection, isOwner: postgres.isOwner })}\n`)
  process.once('SIGTERM', () => void postgres.stop().then(() => clearInterval(keepAlive)))
} catch (error) {
  process.stderr.write(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
  clearInterval(keepAlive)
}
