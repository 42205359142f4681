import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { root, runNode } from './child.mjs'
import { progress } from './report.mjs'

const reporter = join(root, 'scripts/test/reporter.mjs')

/** A test file that runs longer hangs. Those under tests/ hold whole calls and kill processes. */
const timeoutMsOf = (file) => (file.startsWith('src/') ? 60_000 : 600_000)

/** Files that share the machine well; the others measure or listen on fixed ports, and run alone. */
const sharesMachine = (file) => /^(src|tests\/contract)\/|^tests\/[^/]+$/.test(file)
const maxParallelFiles = Math.max(2, Math.min(8, availableParallelism()))
/** Of a check: the tests beside the sources wait for a third of their time. */
const maxParallelChecks = maxParallelFiles + 1

/** The test files in the order they are begun. */
export const listTestFiles = ({ isCheck, chosen }) => {
  const files = [...list('src'), ...list('tests')]
  const wanted = isCheck ? longestFirst(files.filter(isChecked)) : files
  return chosen.length === 0
    ? wanted
    : wanted.filter((file) => chosen.some((path) => file.startsWith(path.replace(/^\.\//, ''))))
}

const isChecked = (file) => file.startsWith('src/') || file === 'tests/architecture.test.ts'

/** Long files tend to run long, and one that is begun last runs alone. */
const longestFirst = (files) => files.toSorted((a, b) => sizeOf(b) - sizeOf(a))
const sizeOf = (file) => statSync(join(root, file)).size

const list = (folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules/'))
    .map((file) => `${folder}/${file}`)
    .toSorted()

/** The outcome of every test, in the order of the files. A file that breaks or is killed is one failed test more. */
export const runTestFiles = async (files, options) => {
  const folder = mkdtempSync(join(tmpdir(), 'outdial-results-'))
  const results = new Map()
  const run = async (file, index) => {
    const destination = join(folder, `${index}.jsonl`)
    results.set(file, await runTestFile(file, destination, options))
  }
  try {
    const together = files.filter(sharesMachine)
    const alone = files.filter((file) => !sharesMachine(file))
    await inParallel(together, options.isCheck ? maxParallelChecks : maxParallelFiles, run)
    await inParallel(alone, 1, (file, index) => run(file, together.length + index))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return files.flatMap((file) => results.get(file))
}

const inParallel = async (items, limit, work) => {
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const index = next++
      await work(items[index], index)
    }
  }
  await Promise.all(Array.from({ length: limit }, worker))
}

const runTestFile = async (file, destination, { environment, signal, fileTimeoutMs }) => {
  const startedMs = performance.now()
  const args = [`--test-reporter=${reporter}`, `--test-reporter-destination=${destination}`, file]
  const child = await runNode(args, {
    timeoutMs: fileTimeoutMs ?? timeoutMsOf(file),
    signal,
    environment,
  })
  const tests = readResults(destination).map((test) => ({ ...test, file }))
  const trouble = troubleOf(child, tests)
  if (trouble) tests.push({ outcome: 'failed', file, name: trouble, detail: child.output })
  const hasFailed = tests.some(({ outcome }) => outcome === 'failed')
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  progress(hasFailed ? 'failed' : 'passed', `${file} (${tests.length} tests, ${seconds} s)`)
  return tests
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

/** What went wrong beside the tests themselves, if anything did. */
const troubleOf = ({ status, killed }, tests) => {
  if (killed !== undefined) return `hung and was killed ${killed}`
  if (status !== 0 && !tests.some(({ outcome }) => outcome === 'failed'))
    return `ended with ${status}`
  return tests.length === 0 ? 'has no tests' : undefined
}
