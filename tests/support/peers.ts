import { spawnSync } from 'node:child_process'

/**
 * Why a test cannot run here: the program it drives is not installed. Under CI that is a failure, as CI installs
 * everything that `.ci/debian-packages.txt` lists.
 */
export const missingPeer = (program: string): string | undefined => {
  if (spawnSync('sh', ['-c', `command -v ${program}`]).status === 0) return undefined
  const reason = `${program} is not installed`
  if (process.env['CI']) throw new Error(`${reason}; .ci/debian-packages.txt must bring it`)
  return reason
}
