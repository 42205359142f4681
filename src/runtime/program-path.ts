import { join, relative } from 'node:path'

const launcher = join(import.meta.dirname, '../../outdial')

/**
 * The command for the program in a folder, by default the working folder of this process: `./outdial` in the
 * checkout. A hint can be pasted where it was read.
 */
export const programPath = (folder = process.cwd()): string => {
  const near = relative(folder, launcher)
  if (near.startsWith('..')) return quoted(launcher)
  // The shell looks for a name without a slash in its path.
  return near.includes('/') ? quoted(near) : `./${near}`
}

const quoted = (path: string): string =>
  /^[\w./@+-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`
