import { pino } from 'pino'

/** Structured log: a constant message, data in fields. Nothing said or dialled goes in unmasked. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  child(fields: object): Logger
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/**
 * What a log tells of an error: never its other members, among which a database error carries its whole connection with
 * statements and password.
 */
const errorFields = (error: unknown): object =>
  error instanceof Error
    ? {
        type: error.name,
        message: error.message,
        stack: error.stack,
        ...('code' in error && { code: error.code }),
        ...(error.cause === undefined ? {} : { cause: errorFields(error.cause) }),
      }
    : { message: String(error) }

/** One JSON line per fact on stderr, so that stdout stays free for answers. */
export const createLogger = (level: LogLevel): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: errorFields },
      redact: ['authorization', '*.authorization', 'secret', '*.secret', 'password', '*.password'],
    },
    pino.destination({ fd: 2, sync: true }),
  )

export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLogger,
}

/** `+12025550100` as `+1202***0100`: enough to recognise in a log, not enough to dial. */
export const maskPhoneNumber = (number: string): string =>
  number.length < 9 ? '***' : `${number.slice(0, 5)}***${number.slice(-4)}`
