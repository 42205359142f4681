import pg from 'pg'

const int8 = 20
const date = 1082
const timestampWithoutZone = 1114

const parseInt8 = (text: string): number | string => {
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : text
}

const asText = (text: string): string => text

/**
 * The types of values: bigint as a number while it is a safe integer (else as text), timestamptz as Date, date and
 * timestamp without zone as text (`pg` would read them in this machine's zone).
 */
export const valueTypes: pg.CustomTypesConfig = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    if (oid === int8) return parseInt8
    if (oid === date || oid === timestampWithoutZone) return asText
    return format === 'binary'
      ? pg.types.getTypeParser(oid, 'binary')
      : pg.types.getTypeParser(oid, 'text')
  },
}
