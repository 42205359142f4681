import { join, relative } from 'node:path'

const launcher = join(import.meta.dirname, '../../outdial')

/**
 * How the program is called from a folder, by default the one this process works in: `./outdial` in the checkout. What a
 * hint says can be pasted where it was read.
 */
export const programPath = (folder = process.cwd()): string => {
  const near = relative(folder, launcher)
  if (near.startsWith('..')) return quoted(launcher)
  // The shell looks for a name without a slash in its path.
  return near.includes('/') ? quoted(near) : `./${near}`
}

const quoted = (path: string): string =>
  /^[\w./@+-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`
