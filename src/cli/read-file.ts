import { readFileSync, statSync } from 'node:fs'

/** A refused file argument; the message is a sentence. */
export class FileArgumentError extends Error {
  override readonly name = 'FileArgumentError'
}

const maxFileBytes = 50 * 1024 * 1024

/** The text of a file named on the command line; throws `FileArgumentError`. */
export const readTextFile = (path: string): string => {
  try {
    if (statSync(path).size > maxFileBytes)
      throw new FileArgumentError(`${path} is larger than 50 MiB.`)
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path))
  } catch (error) {
    if (error instanceof FileArgumentError) throw error
    if (error instanceof TypeError) throw new FileArgumentError(`${path} is not UTF-8 text.`)
    throw new FileArgumentError(`${path} cannot be read: ${(error as Error).message}`)
  }
}

/** A JSON file named on the command line; throws `FileArgumentError`. */
export const readJsonFile = (path: string): unknown => {
  const text = readTextFile(path)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new FileArgumentError(`${path} is not JSON: ${(error as Error).message}`)
  }
}
