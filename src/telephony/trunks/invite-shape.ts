/* How a trunk wants callee and caller written (RFC 3261, 3323, 3325, 5806). */

export type NumberFormat =
  | { readonly kind: 'plus' | 'e164' | 'national' }
  | { readonly kind: 'prefix'; readonly prefix: string; readonly strip: number }

export interface InviteShape {
  /** User of From: the account, where the carrier demands it; by default the caller ID. */
  readonly fromUser?: string | undefined
  readonly fromDomain?: string | undefined
  readonly identity: 'none' | 'pai' | 'ppi'
  readonly privacy: 'none' | 'id'
  /** E.164. */
  readonly diversion?: string | undefined
  /** `Name: value`, checked when they were set. */
  readonly headers: readonly string[]
}

/** The number in its country's own notation, digits only; undefined: it has none. */
export type NationalDigits = (number: string) => string | undefined

/** `written`: `plus`, `e164`, `national` or `prefix:P`. */
export const numberFormatOf = (written: string, strip: number): NumberFormat => {
  if (written.startsWith('prefix:'))
    return { kind: 'prefix', prefix: written.slice('prefix:'.length), strip }
  if (strip > 0) return { kind: 'prefix', prefix: '', strip }
  return { kind: written === 'e164' || written === 'national' ? written : 'plus' }
}

/** The callee in the trunk's format. `number` is E.164 with `+`. */
export const dialledNumber = (
  format: NumberFormat,
  number: string,
  national: NationalDigits,
): string => {
  const digits = number.slice(1)
  switch (format.kind) {
    case 'plus':
      return number
    case 'e164':
      return digits
    case 'national':
      return national(number) ?? number
    case 'prefix':
      return `${format.prefix}${digits.slice(format.strip)}`
  }
}

/** The caller's number, as trunks of the format without `+` write it too. */
const shownNumber = (format: NumberFormat, number: string): string =>
  format.kind === 'plus' || format.kind === 'national' ? number : number.slice(1)

interface Identity {
  /** E.164. */
  readonly callerId: string
  readonly domain: string
  readonly format: NumberFormat
}

/** The URI of From. With `privacy` it is anonymous (RFC 3323 4.1), and the carrier learns the number by `identity`. */
export const fromUri = (shape: InviteShape, { callerId, domain, format }: Identity): string => {
  if (shape.privacy === 'id' && shape.fromUser === undefined)
    return 'sip:anonymous@anonymous.invalid'
  return `sip:${shape.fromUser ?? shownNumber(format, callerId)}@${shape.fromDomain ?? domain}`
}

/** Identity, Privacy, Diversion and the trunk's own headers. */
export const shapeHeaders = (
  shape: InviteShape,
  { callerId, domain, format }: Identity,
): readonly (readonly [string, string])[] => {
  const host = shape.fromDomain ?? domain
  const asserted = `<sip:${shownNumber(format, callerId)}@${host}>`
  return [
    ...(shape.identity === 'pai' ? [['P-Asserted-Identity', asserted] as const] : []),
    ...(shape.identity === 'ppi' ? [['P-Preferred-Identity', asserted] as const] : []),
    ...(shape.privacy === 'id' ? [['Privacy', 'id'] as const] : []),
    ...(shape.diversion === undefined
      ? []
      : [
          [
            'Diversion',
            `<sip:${shownNumber(format, shape.diversion)}@${host}>;reason=unconditional`,
          ] as const,
        ]),
    ...shape.headers.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()] as const
    }),
  ]
}
