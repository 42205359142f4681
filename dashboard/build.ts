// Builds the dashboard into the folder given as first word (default: dist), each text beside its gzip form.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { build } from 'vite'
import { consoleOperations } from '../src/contract/console/operations.ts'
import { operations } from '../src/contract/operations.ts'
import { earlyProgram } from './build/early-plugin.ts'
import { consoleRoutes } from './build/routes-plugin.ts'

/** One file for each of what changes together; a page's own program is fetched when the page is opened. */
const groups = [
  { name: 'react', test: /node_modules[\\/](?:react|react-dom|scheduler)[\\/]/ },
  { name: 'mantine', test: /node_modules[\\/](?:@mantine|@floating-ui)[\\/]/ },
  { name: 'tanstack', test: /node_modules[\\/]@tanstack[\\/]/ },
  // What every page needs is small: in files of its own each would be one more request.
  {
    name: 'frame',
    test: /(?:dashboard[\\/]src[\\/](?:client|shell|parts)|src[\\/]contract)[\\/]|preload-helper|virtual:console/,
  },
]

/** What the first page runs, nearly all of it at once. */
const firstPrograms = new Set(groups.map(({ name }) => name))

/**
 * Chromium compiles all functions of such a file beside the page's thread while it is loaded, instead of each on the page's
 * thread when it is first called: half the time until the first page stands. Other browsers read a comment.
 */
const compileHint = ({ name }: { readonly name: string }): string =>
  firstPrograms.has(name) ? '//# allFunctionsCalledOnLoad' : ''

const root = import.meta.dirname
const outDir = resolve(process.argv[2] ?? join(root, 'dist'))

await build({
  root,
  configFile: false,
  logLevel: 'warn',
  // Nothing of the environment reaches the page.
  envDir: false,
  plugins: [react(), earlyProgram(root), consoleRoutes(consoleOperations, operations)],
  build: {
    outDir,
    emptyOutDir: true,
    target: 'es2022',
    // The content policy forbids scripts and styles in the page.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { codeSplitting: { groups }, postBanner: compileHint } },
  },
})

/** Below this the answer fits into one packet either way. */
const minCompressedBytes = 1024

for (const name of readdirSync(outDir, { recursive: true, encoding: 'utf8' })) {
  if (!/\.(?:js|css|html|svg)$/.test(name)) continue
  const file = join(outDir, name)
  const bytes = readFileSync(file)
  if (bytes.length < minCompressedBytes) continue
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
}
