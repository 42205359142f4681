import type { CliContext } from '../cli-context.ts'
import { warn, type Lines } from './output.ts'

/** As shells tell it: 128 and the number of SIGINT. */
const interruptedStatus = 130

/** Runs work that Ctrl-C leaves: the program says `note`, and what it only watched goes on without it. */
export const whileInterruptible = async <T>(
  context: CliContext,
  note: Lines,
  work: () => Promise<T>,
): Promise<T> => {
  const onInterrupt = (): void => {
    warn(context, note)
    process.exit(interruptedStatus)
  }
  process.once('SIGINT', onInterrupt)
  try {
    return await work()
  } finally {
    process.off('SIGINT', onInterrupt)
  }
}
