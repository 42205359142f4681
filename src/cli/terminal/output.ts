import { styleText } from 'node:util'
import { plainJson, plainText } from '../../runtime/plain-text.ts'
import type { CliContext } from '../cli-context.ts'
import { padTo, shortenToWidth, widthOf, wrap } from './text-width.ts'

/**
 * All output of commands goes through this file. Commands pass lines made of pieces, and each piece may contain
 * foreign text. Only this file converts them to terminal text, escaped, so that nothing else moves a cursor,
 * changes a colour or begins a line.
 */

export interface OutputOptions {
  readonly json?: true
}

interface Styled {
  readonly style: 'good' | 'poor' | 'bad' | 'dim' | 'strong'
  readonly text: string
}

export type Piece = string | Styled
/** One line for people, whatever its pieces contain. */
type Line = Piece | readonly Piece[]
export type Lines = readonly Line[]

/** With `--json` only one JSON document; otherwise text for people, in the width of the terminal. */
export const show = (
  context: CliContext,
  { json }: OutputOptions,
  value: unknown,
  forPeople: (width?: number) => string | Lines,
): void =>
  context.print(
    json
      ? plainJson(JSON.stringify(value, null, 2))
      : written(context, linesOf(forPeople(context.terminalWidth))),
  )

/** One or more lines to stdout. */
export const tell = (context: CliContext, told: string | Lines): void =>
  context.print(written(context, linesOf(told)))

/** One or more lines to stderr. */
export const warn = (context: CliContext, told: string | Lines): void =>
  context.warn(written({}, linesOf(told)))

/** A value as one line of JSON, for programs that read a stream. */
export const tellJson = (context: CliContext, value: unknown): void =>
  context.print(plainJson(JSON.stringify(value)))

/** Lines of CSV unchanged: no cell is wrapped or shortened. */
export const tellCsv = (context: CliContext, csv: string): void =>
  context.print(csv.split('\n').map(plainText).join('\n'))

/** Prints lines over the previous ones, within the terminal's current width. */
export const createPainter = (context: CliContext): ((lines: Lines) => void) => {
  let widths: readonly number[] = []
  return (lines) => {
    const terminal = context.terminalWidth ?? Number.POSITIVE_INFINITY
    const clipped = lines.map((line) => clip(line, terminal))
    // A narrowed terminal has wrapped the existing lines.
    const rows = widths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / terminal)), 0)
    context.print(overLast(rows) + written(context, clipped))
    widths = clipped.map((pieces) => widthOf(pieces.map(textOf).join('')))
  }
}

/** `name  value` lines; with a width, values are wrapped under themselves. */
export const facts = (
  entries: readonly (readonly [string, Piece | undefined])[],
  width?: number,
): Lines => {
  const known = entries.filter((entry): entry is readonly [string, Piece] => entry[1] !== undefined)
  const indent = Math.max(0, ...known.map(([name]) => widthOf(plainText(name))))
  return known.flatMap(([name, value]) =>
    hanging(padTo(plainText(name), indent) + gap, value, width),
  )
}

/** A text behind its label; with a width, wrapped under itself. */
export const hanging = (label: string, value: Piece, width?: number): Lines => {
  const shown = plainText(label)
  const indent = widthOf(shown)
  const room = width === undefined ? 0 : width - indent
  if (room < leastWrappedWidth) return [[shown, value]]
  const [first = '', ...more] = wrap(textOf(value), room)
  return [
    [shown, restyle(value, first)],
    ...more.map((text): Line => [' '.repeat(indent), restyle(value, text)]),
  ]
}

export const gap = '  '
/** A narrower column is less readable than lines that the terminal breaks. */
export const leastWrappedWidth = 20

/** The printed text of a piece. */
export const textOf = (piece: Piece): string =>
  plainText(typeof piece === 'string' ? piece : piece.text)

/** Another text in the style of a piece. */
export const restyle = (piece: Piece, text: string): Piece =>
  typeof piece === 'string' ? text : { ...piece, text }

const linesOf = (told: string | Lines): Lines => (typeof told === 'string' ? [told] : told)

const piecesOf = (line: Line): readonly Piece[] =>
  typeof line === 'string' || 'style' in line ? [line] : line

const formats = {
  good: 'green',
  poor: 'yellow',
  bad: 'red',
  dim: 'dim',
  strong: 'bold',
} as const satisfies Record<Styled['style'], Parameters<typeof styleText>[0]>

const written = ({ hasColour }: Pick<CliContext, 'hasColour'>, lines: Lines): string =>
  lines
    .map((line) =>
      withoutTrailingBlanks(piecesOf(line))
        .map((piece) =>
          typeof piece === 'string' || hasColour !== true
            ? textOf(piece)
            : styleText(formats[piece.style], textOf(piece), { validateStream: false }),
        )
        .join(''),
    )
    .join('\n')

const withoutTrailingBlanks = (pieces: readonly Piece[]): readonly Piece[] => {
  const last = pieces.findLastIndex((piece) => textOf(piece).trim() !== '')
  const end = pieces[last]
  return end === undefined ? [] : [...pieces.slice(0, last), restyle(end, textOf(end).trimEnd())]
}

const clip = (line: Line, width: number): readonly Piece[] => {
  let room = width
  return piecesOf(line).map((piece) => {
    const text = room > 0 ? shortenToWidth(textOf(piece), room) : ''
    room -= widthOf(text)
    return restyle(piece, text)
  })
}

/** ESC [ n A: up n lines; ESC [ J: clear from here (ECMA-48). */
const overLast = (rows: number): string => (rows === 0 ? '' : `\u001b[${rows}A\u001b[J`)
