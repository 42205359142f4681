const isTerminal = process.stdout.isTTY === true
const paint = (code, text) => (isTerminal ? `\u001b[${code}m${text}\u001b[0m` : text)

const marks = { passed: paint(32, '✔'), failed: paint(31, '✖') }
const slowestShown = 10

/** One line for a finished file or static check while the others run, and one for each of its failures. */
export const progress = (name, { tests, seconds }) => {
  const failed = tests.filter(({ outcome }) => outcome === 'failed')
  const count = tests.length === 1 ? '1 test' : `${tests.length} tests`
  const mark = marks[failed.length > 0 ? 'failed' : 'passed']
  const lines = [`${mark} ${name} (${count}, ${seconds.toFixed(1)} s)`]
  for (const test of failed) lines.push(`    ${placeOf(test)}`)
  process.stdout.write(`${lines.join('\n')}\n`)
}

const placeOf = ({ file, line, name }) =>
  file ? `${file}${line ? `:${line}` : ''}  ${name}` : name

const indent = (text) =>
  text
    .trim()
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')

/**
 * The slowest files, failures with their reasons, skipped tests with theirs, and the line of counts. True if
 * nothing failed.
 */
export const printReport = (files, totalSeconds) => {
  const tests = files.flatMap((file) => file.tests)
  const of = (outcome) => tests.filter((test) => test.outcome === outcome)
  const [passed, failed, skipped] = [of('passed'), of('failed'), of('skipped')]
  const lines = ['', `Slowest of ${files.length}, in ${totalSeconds.toFixed(0)} s in all:`]
  const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, slowestShown)
  for (const { name, seconds } of slowest)
    lines.push(`  ${seconds.toFixed(1).padStart(6)} s  ${name}`)
  for (const test of failed)
    lines.push('', `${marks.failed} ${placeOf(test)}`, indent(test.detail ?? ''))
  for (const test of skipped) lines.push(`- skipped: ${placeOf(test)} (${test.detail})`)
  const tail = skipped.length > 0 ? `, ${skipped.length} skipped` : ''
  lines.push('', `${passed.length} passed, ${failed.length} failed${tail}`)
  process.stdout.write(`${lines.join('\n')}\n`)
  return failed.length === 0
}
