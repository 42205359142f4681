import { styleText } from 'node:util'
import { pino } from 'pino'
import { humanLine } from './log-lines/human-log.ts'
import { plainJson } from './plain-text.ts'
import { standardErrorLines } from './log-lines/standard-error.ts'

/** Structured log: a constant message, data in fields. Spoken words and numbers never appear unmasked. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  child(fields: object): Logger
}

type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/**
 * The logged part of an error: never its other members, because a database error carries its whole connection with
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

/** Where lines go, each with its end. */
interface LogDestination {
  write(line: string): void
  /** Whether it is a terminal, which gets the same in words. */
  readonly isTerminal?: boolean
}

/**
 * One JSON line per fact on stderr, so that stdout stays free for results; on a terminal a line for people. No
 * reader, however slow or full, delays the program.
 */
export const createLogger = (
  level: LogLevel,
  destination: LogDestination = standardErrorLines(describeLoss),
): Logger =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: errorFields },
      redact: ['authorization', '*.authorization', 'secret', '*.secret', 'password', '*.password'],
    },
    { write: (line: string) => destination.write(shown(line, destination)) },
  )

const shown = (line: string, { isTerminal }: LogDestination): string =>
  isTerminal === true
    ? humanLine(line, styleText('dim', ' ', { stream: process.stderr }) !== ' ')
    : plainJson(line)

/** As pino would write it. */
const describeLoss = (lines: number): string =>
  JSON.stringify({ level: 'warn', time: new Date().toISOString(), lines, msg: lossMessage })

const lossMessage = 'log lines were dropped, because nothing took them'

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
