/** The database cannot be set up here. The message is for the administrator: what is wrong, and what to do. */
export class DatabaseSetupError extends Error {
  override readonly name: string = 'DatabaseSetupError'
}

/** There is nothing of ours where the settings point. */
export class NoInstallationError extends DatabaseSetupError {}

const isFull = /No space left on device|ENOSPC|Disk quota exceeded|EDQUOT/
const isRefused =
  /ENOENT|Permission denied|Operation not permitted|Read-only file system|EACCES|EPERM|EROFS/
const isBlocked = /ENOTDIR|Not a directory|EEXIST/

/**
 * What went wrong while `doing` something in `folder`, as one sentence with its remedy. `detail` is
 * an error or the last words of a program.
 */
export const toSetupError = (
  doing: string,
  folder: string,
  detail: unknown,
): DatabaseSetupError => {
  if (detail instanceof DatabaseSetupError) return detail
  const text = detail instanceof Error ? detail.message : String(detail).trim()
  return new DatabaseSetupError(`${sentenceFor(doing, folder, text)}`, { cause: detail })
}

const sentenceFor = (doing: string, folder: string, text: string): string => {
  if (isFull.test(text))
    return `The disk that holds ${folder} is full: free at least 200 MB, or set OUTDIAL_DATA to a folder elsewhere.`
  if (isRefused.test(text))
    return `This user may not write to ${folder}: give it write access, or set OUTDIAL_DATA to a folder it may write.`
  if (isBlocked.test(text))
    return `${folder} cannot be a folder, because a file is in its place: remove the file, or set OUTDIAL_DATA to another folder.`
  return `Could not ${doing} in ${folder}: ${lastLine(text)} Set DATABASE_URL to use a PostgreSQL of your own instead.`
}

const lastLine = (text: string): string => {
  const line = text.split('\n').findLast((each) => each.trim() !== '') ?? 'no reason given'
  return /[.!?]$/.test(line.trim()) ? line.trim() : `${line.trim()}.`
}
