import { styleText } from 'node:util'
import { plainText } from '../plain-text.ts'

const colours = { debug: 'dim', info: 'cyan', warn: 'yellow', error: 'red' } as const

const isLevel = (level: unknown): level is keyof typeof colours =>
  typeof level === 'string' && level in colours

/**
 * A log line for a person at a terminal: `10:40:12 warn the trunk does not answer host=sip.example`. Its content is
 * escaped; a stack follows below it.
 */
export const humanLine = (json: string, hasColour: boolean): string => {
  const { level, time, msg, ...fields } = JSON.parse(json) as Record<string, unknown>
  const shownLevel = plainText(String(level)).padEnd(5)
  const stack = stackOf(fields['err'])
  const details = Object.entries(fields).map(
    ([name, value]) => `  ${plainText(name)}=${plainText(detailOf(value))}`,
  )
  const head = [
    plainText(String(time).slice(11, 19)),
    hasColour && isLevel(level)
      ? styleText(colours[level], shownLevel, { validateStream: false })
      : shownLevel,
    plainText(String(msg)),
  ].join(' ')
  return `${head}${details.join('')}\n${stack.map((line) => `         ${plainText(line)}\n`).join('')}`
}

const detailOf = (value: unknown): string => {
  if (typeof value === 'string') return value
  const message = (value as { message?: unknown } | null)?.message
  return typeof message === 'string' ? message : JSON.stringify(value)
}

const stackOf = (error: unknown): string[] => {
  const stack = (error as { stack?: unknown } | null | undefined)?.stack
  return typeof stack === 'string' ? stack.split('\n').slice(1) : []
}
