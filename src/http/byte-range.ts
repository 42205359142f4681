/** Positions of the first and the last byte, both inclusive. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * The one range a `Range` header asks of `size` bytes (RFC 9110 section 14.2). `undefined`: answer with everything, as
 * there is no header, it is malformed, of another unit, or names several ranges, all of which may be ignored.
 */
export const parseRange = (
  header: string | undefined,
  size: number,
): ByteRange | 'unsatisfiable' | undefined => {
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? '')
  if (!match) return undefined
  const [, first = '', last = ''] = match
  if (first === '') return last === '' ? undefined : suffix(Number(last), size)
  const [start, end] = [Number(first), last === '' ? size - 1 : Number(last)]
  if (end < start && last !== '') return undefined
  return start < size ? { start, end: Math.min(end, size - 1) } : 'unsatisfiable'
}

const suffix = (length: number, size: number): ByteRange | 'unsatisfiable' =>
  length === 0 || size === 0
    ? 'unsatisfiable'
    : { start: Math.max(0, size - length), end: size - 1 }
