import { createRequire } from 'node:module'

type PhoneMetadata = typeof import('libphonenumber-js/max')

const load = createRequire(import.meta.url)
let loaded: PhoneMetadata | undefined

/**
 * The numbering plans of the world. They take 70 ms to load, more than most commands need in all: only what reads a number loads
 * them. The service does so as it starts.
 */
export const phoneMetadata = (): PhoneMetadata =>
  (loaded ??= load('libphonenumber-js/max') as PhoneMetadata)
