import { readFileSync } from 'node:fs'
import { parsePriceTable, type PriceTable } from './price-table.ts'

/** The price table of OUTDIAL_PRICES; empty if it is not set. Throws a sentence for an unusable file. */
export const readPrices = (file: string | undefined): PriceTable => {
  if (file === undefined) return {}
  try {
    return parsePriceTable(JSON.parse(readFileSync(file, 'utf8')))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`OUTDIAL_PRICES cannot be used: ${why}`, { cause })
  }
}
