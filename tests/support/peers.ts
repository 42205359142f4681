import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/**
 * Why a test cannot run here: its peer program is not installed. Under CI that is a failure, because CI installs
 * everything in `.ci/debian-packages.txt`.
 */
export const missingPeer = (program: string): string | undefined =>
  spawnSync('sh', ['-c', `command -v ${program}`]).status === 0 ? undefined : missing(program)

/** As `missingPeer`, of a file that a peer's package brings. */
export const missingFile = (path: string): string | undefined =>
  existsSync(path) ? undefined : missing(path)

const missing = (what: string): string => {
  const reason = `${what} is not installed`
  if (process.env['CI']) throw new Error(`${reason}; .ci/debian-packages.txt must bring it`)
  return reason
}
