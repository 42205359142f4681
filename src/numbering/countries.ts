import { phoneMetadata } from './phone-metadata.ts'

/** Whether this is the ISO 3166 code, in capitals, of a country or territory with its own telephone numbers. */
export const isCountry = (code: string): boolean => phoneMetadata().isSupportedCountry(code)
