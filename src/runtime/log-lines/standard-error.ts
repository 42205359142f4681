import { constants, fstatSync, openSync, writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { LineWriter } from './line-writer.ts'

const standardError = 2
/** What a slow reader may cost at the end of the process. */
const lastLinesMs = 500

/** Lines for stderr, and whether that is a terminal. */
interface StandardErrorLines {
  readonly write: (line: string) => void
  readonly isTerminal: boolean
}

let writer: StandardErrorLines | undefined

/** Lines for stderr, of any kind: one writer for the process, which writes its last lines when the process ends. */
export const standardErrorLines = (describeLoss: (count: number) => string): StandardErrorLines => {
  if (writer) return writer
  const descriptor = openWithoutWaiting()
  const lines = new LineWriter({ sink: (bytes) => writeSync(descriptor, bytes), describeLoss })
  process.once('exit', () => lines.flush(lastLinesMs))
  writer = { write: (line) => lines.write(line), isTerminal: isatty(standardError) }
  return writer
}

/**
 * A descriptor that never waits for its reader. A file takes what it is given at once; a pipe and a terminal are opened
 * once more, because their own descriptor may be shared with programs that expect it to wait.
 */
const openWithoutWaiting = (): number => {
  const kind = fstatSync(standardError)
  if (kind.isFile()) return standardError
  if (!kind.isSocket()) {
    try {
      const { O_WRONLY, O_NONBLOCK, O_NOCTTY } = constants
      return openSync(`/dev/fd/${standardError}`, O_WRONLY | O_NONBLOCK | O_NOCTTY)
    } catch {
      // It belongs to another user, or its reader has left.
    }
  }
  // Node's own stream of a pipe or a socket makes its descriptor one that does not wait.
  if (kind.isFIFO() || kind.isSocket()) void process.stderr
  return standardError
}
