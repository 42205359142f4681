import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'

const unzip = promisify(gunzip)

/** Scalar's program for the browser, whole in one file of 4.4 MB, and the same in gzip, as it is stored. */
export const loadReferenceProgram = async (): Promise<{ body: Buffer; gzipped: Buffer }> => {
  const gzipped = await readFile(new URL('./reference-program/scalar.js.gz', import.meta.url))
  return { body: await unzip(gzipped), gzipped }
}
