import { spawnSync } from 'node:child_process'

/**
 * Why a test cannot run here: its peer program is not installed. Under CI that is a failure, because CI installs
 * everything in `.ci/debian-packages.txt`.
 */
export const missingPeer = (program: string): string | undefined => {
  if (spawnSync('sh', ['-c', `command -v ${program}`]).status === 0) return undefined
  const reason = `${program} is not installed`
  if (process.env['CI']) throw new Error(`${reason}; .ci/debian-packages.txt must bring it`)
  return reason
}
