const isTerminal = process.stdout.isTTY === true
const paint = (code, text) => (isTerminal ? `\u001b[${code}m${text}\u001b[0m` : text)

const marks = { passed: paint(32, '✔'), failed: paint(31, '✖') }

/** One line while the work goes on. */
export const progress = (outcome, text) => {
  process.stdout.write(`${marks[outcome]} ${text}\n`)
}

const placeOf = ({ file, line, name }) =>
  file ? `${file}${line ? `:${line}` : ''}  ${name}` : name

const indent = (text) =>
  text
    .trim()
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n')

/** Failures with their reasons, skipped tests with theirs, and the line that counts. True when nothing failed. */
export const printReport = (results) => {
  const of = (outcome) => results.filter((result) => result.outcome === outcome)
  const [passed, failed, skipped] = [of('passed'), of('failed'), of('skipped')]
  const lines = []
  for (const result of failed)
    lines.push('', `${marks.failed} ${placeOf(result)}`, indent(result.detail ?? ''))
  for (const result of skipped) lines.push(`- skipped: ${placeOf(result)} (${result.detail})`)
  const tail = skipped.length > 0 ? `, ${skipped.length} skipped` : ''
  lines.push('', `${passed.length} passed, ${failed.length} failed${tail}`)
  process.stdout.write(`${lines.join('\n')}\n`)
  return failed.length === 0
}
