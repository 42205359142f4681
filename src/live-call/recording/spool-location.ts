import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { makeFolder } from '../../runtime/make-folder.ts'
import { encodingTask } from '../call/follow-up-jobs.ts'

/** Where live calls are recorded until they are encoded. */
export const spoolFolderOf = (dataFolder: string): string => join(dataFolder, 'spool')

/** Makes it where it is missing, and lets only this user read it. */
export const openSpoolFolder = (dataFolder: string): string => {
  const folder = spoolFolderOf(dataFolder)
  makeFolder(dataFolder)
  makeFolder(folder, 0o700)
  return folder
}

/** The node that has the spool encodes it: the task carries its name. */
export const encodingTaskOf = (spoolFolder: string): string =>
  `${encodingTask}:${nameOfFolder(spoolFolder)}`

/** A restored database knows other nodes; what they had still to encode is this installation's to settle. */
export const encodingTaskHere = (spoolFolder: string, task: string): string =>
  task.startsWith(`${encodingTask}:`) ? encodingTaskOf(spoolFolder) : task

const nameOfFolder = (folder: string): string =>
  createHash('sha256').update(`${hostname()}\n${folder}`).digest('hex').slice(0, 16)
