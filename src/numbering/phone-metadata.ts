import { createRequire } from 'node:module'

type PhoneMetadata = typeof import('libphonenumber-js/max')

const load = createRequire(import.meta.url)
let loaded: PhoneMetadata | undefined

/**
 * The world's numbering plans. They take 70 ms to load, more than most commands need in all, so only code that
 * reads a number loads them. The service loads them at its start.
 */
export const phoneMetadata = (): PhoneMetadata =>
  (loaded ??= load('libphonenumber-js/max') as PhoneMetadata)
