// Runs Outdial in a checkout with any Node from 18 on: installs Node 24 and the locked packages that the command
// needs if they are missing, then runs the command. Plain JavaScript without package imports, because nothing is
// installed yet at its first run.
import { readdirSync } from 'node:fs'
import * as module from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { ensureDashboard, ensureDashboardPackages } from './install/dashboard.mjs'
import { ensurePackages } from './install/packages.mjs'
import { ensureNode } from './install/node-runtime.mjs'
import { InstallError } from './install/npm.mjs'
import { runWith } from './install/run-with.mjs'
import { asksForHelp, helpOf } from './script-help.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** Folders of commands that take a name. */
const scriptFolders = {
  bench: 'benchmarks',
  fuzz: 'tests/fuzz',
  chaos: 'tests/chaos',
  attack: 'tests/attack',
  outage: 'tests/outage',
}

/** Commands of the checkout itself; every other word is a command of `outdial`. */
const scripts = {
  // Any word may follow `outdial`, also `constructor`.
  __proto__: null,
  test: () => ['scripts/run-tests.mjs'],
  check: () => ['scripts/run-tests.mjs', '--check'],
  format: () => ['scripts/format.mjs', '--write'],
  bench: (name) => [findScript(scriptFolders.bench, name)],
  fuzz: (name) => [findScript(scriptFolders.fuzz, name)],
  docs: () => ['scripts/generate-docs.ts'],
  chaos: (name) => [findScript(scriptFolders.chaos, name)],
  attack: (name) => [findScript(scriptFolders.attack, name)],
  outage: (name) => [findScript(scriptFolders.outage, name)],
  'scripted-provider': () => ['docs/examples/scripted-provider.ts'],
}
const namedScripts = new Set(['bench', 'fuzz', 'chaos', 'attack', 'outage'])

/** Types and lint of the dashboard's sources need what they import; tests drive what is built of them. */
const dashboardNeeds = { __proto__: null, check: ensureDashboardPackages, test: ensureDashboard }

const findScript = (folder, name) => {
  const names = listScripts(join(root, folder))
  if (names.includes(name)) return `${folder}/${name}.ts`
  const offer = names.length > 0 ? `choose from ${names.join(', ')}` : `${folder} has none`
  throw new InstallError(
    `${name ? `No script is named ${name}` : 'A name is missing'}: ${offer}.`,
    2,
  )
}

const listScripts = (folder) => {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .map((file) => file.slice(0, -'.ts'.length))
  } catch {
    return []
  }
}

/** The default script when options follow at once: `npm run fuzz -- --requests 20000`. */
const defaultNames = {
  __proto__: null,
  fuzz: 'api-fuzz',
  chaos: 'chaos',
  attack: 'attack',
  outage: 'outage',
}

const toArguments = (command, rest) => {
  const script = scripts[command]
  if (command in defaultNames && (rest[0] ?? '-').startsWith('-'))
    return [...script(defaultNames[command]), ...rest]
  if (!script) return ['src/main.ts', ...(command === undefined ? [] : [command]), ...rest]
  return namedScripts.has(command) ? [...script(rest[0]), ...rest.slice(1)] : [...script(), ...rest]
}

/**
 * The description of a checkout script, printed without running it; undefined if it was not requested, or if the
 * script prints its own.
 */
const findHelp = (command, rest) => {
  if (!(command in scripts) || !asksForHelp(rest)) return undefined
  const isNamed = command in defaultNames || !(rest[0] ?? '-').startsWith('-')
  if (namedScripts.has(command) && !isNamed) return listHelp(command)
  return helpOf(join(root, toArguments(command, rest)[0])) || undefined
}

const listHelp = (command) =>
  listScripts(join(root, scriptFolders[command]))
    .map((name) => helpOf(join(root, scriptFolders[command], `${name}.ts`)))
    .join('\n\n')

const main = async ([command, ...rest]) => {
  const help = findHelp(command, rest)
  if (help !== undefined) return process.stdout.write(`${help}\n`)
  const [file, ...args] = toArguments(command, rest)
  const node = await ensureNode(root)
  // Commands of `outdial`, and the trial provider, need only the product's packages; the others need the
  // development packages.
  const development = command in scripts && command !== 'scripted-provider'
  await ensurePackages(root, node, { development })
  await dashboardNeeds[command]?.(root, node)
  const cache = join(root, '.runtime', 'compile-cache')
  // npm forwards the Ctrl-C that the terminal also sends: a process in between passes it on once.
  const isUnderNpm = process.env.npm_execpath !== undefined
  if (node !== process.execPath || isUnderNpm)
    return runWith(node, [join(root, file), ...args], cache)
  module.enableCompileCache?.(cache)
  // Processes that the command starts, as tests do, read it too.
  process.env.NODE_COMPILE_CACHE = cache
  process.argv = [process.execPath, join(root, file), ...args]
  await import(pathToFileURL(join(root, file)).href)
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof InstallError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = error.exitStatus
}
