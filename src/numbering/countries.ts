import { phoneMetadata } from './phone-metadata.ts'

/** Whether this is the ISO 3166 code, in capitals, of a country or territory with telephone numbers of its own. */
export const isCountry = (code: string): boolean => phoneMetadata().isSupportedCountry(code)
