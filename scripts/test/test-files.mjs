import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { root, runNode } from './child.mjs'
import { mannerOf } from './lanes.mjs'

const reporter = join(root, 'scripts/test/reporter.mjs')

/** A test file that runs longer hangs. Those under tests/ hold whole calls and kill processes. */
const timeoutMsOf = (file) => (file.startsWith('src/') ? 180_000 : 600_000)

/** The test files: for a check those beside the sources and the floor plan, else all, or the chosen ones. */
export const listTestFiles = ({ isCheck, chosen }) => {
  const files = [...list('src'), ...list('tests')].filter((file) => !isCheck || isChecked(file))
  return chosen.length === 0
    ? files
    : files.filter((file) => chosen.some((path) => file.startsWith(path.replace(/^\.\//, ''))))
}

const isChecked = (file) => file.startsWith('src/') || file === 'tests/architecture.test.ts'

const list = (folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules/'))
    .map((file) => `${folder}/${file}`)
    .toSorted()

/** With how each runs beside others, in start order: a file that starts last ends last, alone. */
export const orderTestFiles = (files) => files.map(describe).toSorted(longestFirst)

const describe = (file) => ({ file, ...mannerOf(file), size: statSync(join(root, file)).size })
/** Long files tend to run long. */
const longestFirst = (a, b) => b.seconds * b.weight - a.seconds * a.weight || b.size - a.size

/**
 * The result of a file: its duration, and every test. A file that breaks or is killed counts as one more failed
 * test.
 */
export const runTestFile = async (file, { folder, environment, signal, fileTimeoutMs }) => {
  const destination = join(folder, `${file.replaceAll('/', '-')}.jsonl`)
  const startedMs = performance.now()
  const args = [`--test-reporter=${reporter}`, `--test-reporter-destination=${destination}`, file]
  const child = await runNode(args, {
    timeoutMs: fileTimeoutMs ?? timeoutMsOf(file),
    signal,
    environment,
    yields: mannerOf(file).lane === 'works',
  })
  const tests = readResults(destination).map((test) => ({ ...test, file }))
  const trouble = troubleOf(child, tests)
  if (trouble) tests.push({ outcome: 'failed', file, name: trouble, detail: child.output })
  return { tests, seconds: (performance.now() - startedMs) / 1000 }
}

const readResults = (destination) => {
  try {
    const lines = readFileSync(destination, 'utf8').split('\n')
    // The last line of a killed process may be cut off.
    return lines.slice(0, -1).map((line) => JSON.parse(line))
  } catch (error) {
    if (error.code === 'ENOENT') return []
    throw error
  }
}

/** Failures beside the tests themselves. */
const troubleOf = ({ status, killed }, tests) => {
  if (killed !== undefined) return `hung and was killed ${killed}`
  if (status !== 0 && !tests.some(({ outcome }) => outcome === 'failed'))
    return `ended with ${status}`
  return tests.length === 0 ? 'has no tests' : undefined
}
