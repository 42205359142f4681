import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { encodingTask } from '../call/follow-up-jobs.ts'

/** Where live calls are recorded until they are encoded. */
export const spoolFolderOf = (dataFolder: string): string => join(dataFolder, 'spool')

/** The node that has the spool encodes it: the task carries its name. */
export const encodingTaskOf = (spoolFolder: string): string =>
  `${encodingTask}:${nameOfFolder(spoolFolder)}`

/** A restored database knows other nodes; what they had still to encode is this installation's to settle. */
export const encodingTaskHere = (spoolFolder: string, task: string): string =>
  task.startsWith(`${encodingTask}:`) ? encodingTaskOf(spoolFolder) : task

const nameOfFolder = (folder: string): string =>
  createHash('sha256').update(`${hostname()}\n${folder}`).digest('hex').slice(0, 16)
