import type { Logger } from './logger.ts'

/** A line of a worker's log, on its way to the logger of the main thread. */
export interface ThreadLogMessage {
  readonly type: 'log'
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly fields: object
  readonly message: string
}

/** The logger of a worker thread: level and destination are decided by the main thread. `debug` stays in the thread. */
export const createThreadLogger = (
  post: (message: ThreadLogMessage) => void,
  bound: object = {},
): Logger => {
  const write =
    (level: ThreadLogMessage['level']) =>
    (fields: object, message: string): void =>
      post({ type: 'log', level, fields: cloneable({ ...bound, ...fields }), message })
  return {
    debug: () => undefined,
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => createThreadLogger(post, { ...bound, ...fields }),
  }
}

/** A value that cannot be copied to another thread (a socket in an error) is sent as text. */
const cloneable = (fields: object): object => {
  try {
    return structuredClone(fields)
  } catch {
    return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]))
  }
}
