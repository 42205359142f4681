import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { makeFolder } from '../../runtime/make-folder.ts'
import { encodingTask } from '../call/follow-up-jobs.ts'

/** Where live calls are recorded until they are encoded. */
export const spoolFolderOf = (dataFolder: string): string => join(dataFolder, 'spool')

/** Creates it if missing, readable only by this user. */
export const openSpoolFolder = (dataFolder: string): string => {
  const folder = spoolFolderOf(dataFolder)
  makeFolder(dataFolder)
  makeFolder(folder, 0o700)
  return folder
}

/** The node with the spool encodes it: the task carries its name. */
export const encodingTaskOf = (spoolFolder: string): string =>
  `${encodingTask}:${nameOfFolder(spoolFolder)}`

/** A restored database contains other nodes; this installation settles their pending encodings. */
export const encodingTaskHere = (spoolFolder: string, task: string): string =>
  task.startsWith(`${encodingTask}:`) ? encodingTaskOf(spoolFolder) : task

const nameOfFolder = (folder: string): string =>
  createHash('sha256').update(`${hostname()}\n${folder}`).digest('hex').slice(0, 16)
