// Builds the dashboard into dashboard/dist when its sources have changed. `outdial start` runs it beside the service.
import { setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensureDashboard } from './install/dashboard.mjs'
import { InstallError } from './install/npm.mjs'

/** The lowest: calls and the API come first. npm and the build inherit it. */
const lowestPriority = 19

try {
  setPriority(lowestPriority)
  await ensureDashboard(join(dirname(fileURLToPath(import.meta.url)), '..'), process.execPath)
} catch (error) {
  if (!(error instanceof InstallError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = error.exitStatus
}
