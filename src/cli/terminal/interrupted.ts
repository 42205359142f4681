import type { CliContext } from '../cli-context.ts'
import { warn, type Lines } from './output.ts'

/** As in shells: 128 plus the number of SIGINT. */
const interruptedStatus = 130

/** Runs work that Ctrl-C abandons: the program prints `note`, and the watched work goes on. */
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
