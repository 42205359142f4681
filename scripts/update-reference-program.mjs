// Writes src/http/documentation/reference-program/: Scalar's API reference for the browser, one file from its
// package (dist/browser/standalone.js, MIT), compressed. The package itself is not a dependency of the product,
// because it brings 272 others (287 MB) that only its own build needs. To take a newer version, change `version`
// and run this script.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { constants, gzipSync } from 'node:zlib'

const version = '1.72.1'
const folder = mkdtempSync(join(tmpdir(), 'outdial-reference-'))
const target = (name) =>
  new URL(`../src/http/documentation/reference-program/${name}`, import.meta.url)

try {
  const name = `@scalar/api-reference@${version}`
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, name])
  execFileSync('tar', ['-xzf', `scalar-api-reference-${version}.tgz`], { cwd: folder })
  const read = (path) => readFileSync(join(folder, 'package', path))
  const program = read('dist/browser/standalone.js')
  writeFileSync(target('scalar.js.gz'), gzipSync(program, { level: constants.Z_BEST_COMPRESSION }))
  writeFileSync(
    target('README.md'),
    `# The program behind /docs

\`scalar.js.gz\` is \`dist/browser/standalone.js\` of the npm package ${name}, unchanged, in gzip
(${program.length} bytes unpacked). Licence: MIT, Copyright 2023-present Scalar; its bundled parts name their licences
inside. \`scripts/update-reference-program.mjs\` writes this folder.
`,
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
