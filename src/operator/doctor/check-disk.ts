import { constants, existsSync } from 'node:fs'
import { access, statfs, unlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { failed, messageOf, ok, warning, type Finding } from './finding.ts'

const roomyBytes = 5 * 1024 ** 3
const leastBytes = 500 * 1024 ** 2

/** Checks that the data folder is writable and has enough free space. */
export const checkDisk = async (folder: string): Promise<Finding> => {
  try {
    const existing = nearestFolder(folder)
    if (existing === folder) {
      const probe = join(folder, '.doctor')
      await writeFile(probe, '')
      await unlink(probe)
    } else await access(existing, constants.W_OK)
    const { bavail, bsize } = await statfs(existing)
    const free = bavail * bsize
    const text = `${(free / 1024 ** 3).toFixed(1)} GiB are free for ${folder}`
    if (free < leastBytes)
      return failed('disk', `Only ${text}: free some space, or set OUTDIAL_DATA elsewhere.`)
    return free < roomyBytes
      ? warning(
          'disk',
          `Only ${text}; an hour of calls takes 15 MB as MP3 and 60 MB while it lasts.`,
        )
      : ok('disk', `${text}.`)
  } catch (error) {
    return failed(
      'disk',
      `The data folder cannot be written (${messageOf(error)}): give this user access to ${folder}, or set OUTDIAL_DATA.`,
    )
  }
}

/** The nearest parent that exists, where the folder itself does not exist yet. */
const nearestFolder = (path: string): string =>
  existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path))
