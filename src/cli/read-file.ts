import { readFileSync, statSync } from 'node:fs'
import { InvalidFileError } from '../domains/organizations/invalid-file.ts'
import { scanJson } from '../domains/organizations/scan-json.ts'

/** A refused file argument; the message is a sentence. */
class FileArgumentError extends Error {
  override readonly name = 'FileArgumentError'
}

const maxFileBytes = 50 * 1024 * 1024
/** As in bodies of the API (D9). */
const maxDepth = 64

/** The text of a file named on the command line; throws `FileArgumentError`. */
export const readTextFile = (path: string): string => {
  try {
    if (statSync(path).size > maxFileBytes)
      throw new FileArgumentError(`${path} is larger than 50 MiB.`)
    return decode(readFileSync(path))
  } catch (error) {
    if (error instanceof FileArgumentError) throw error
    if (error instanceof TypeError) throw new FileArgumentError(`${path} is not UTF-8 text.`)
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new FileArgumentError(`There is no file ${path}.`)
    throw new FileArgumentError(`${path} cannot be read: ${(error as Error).message}`)
  }
}

/** UTF-8, or UTF-16 with a byte order mark, as spreadsheets and shells of Windows write it. */
const decode = (bytes: Uint8Array): string => {
  const [first, second] = bytes
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  const encoding = isUtf16 ? (first === 0xff ? 'utf-16le' : 'utf-16be') : 'utf-8'
  return new TextDecoder(encoding, { fatal: true }).decode(bytes)
}

/**
 * A JSON file named on the command line. Throws `FileArgumentError`, and `InvalidFileError` if an object names a
 * member twice, because one of the two would be lost silently.
 */
export const readJsonFile = (path: string): unknown => {
  const text = readTextFile(path)
  const value = parseJson(path, text)
  const { repeated, depth } = scanJson(text)
  if (depth > maxDepth)
    throw new FileArgumentError(`${path} is nested deeper than ${maxDepth} levels.`)
  if (repeated.length > 0) throw new InvalidFileError(repeated)
  return value
}

const parseJson = (path: string, text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new FileArgumentError(`${path} is not JSON: ${(error as Error).message}`)
  }
}
