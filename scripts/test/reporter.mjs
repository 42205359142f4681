import { inspect } from 'node:util'

/** One JSON line for each finished test; the runner reads them, also from a process it had to kill. */
export default async function* reporter(events) {
  const path = []
  for await (const { type, data } of events) {
    if (type === 'test:start') path[data.nesting] = data.name
    if (type !== 'test:pass' && type !== 'test:fail') continue
    if (data.details.type === 'suite' && type === 'test:pass') continue
    const name = [...path.slice(0, data.nesting), data.name].join(' › ')
    yield `${JSON.stringify({ name, line: data.line, ...outcomeOf(type, data) })}\n`
  }
}

const outcomeOf = (type, { skip, todo, details }) => {
  if (skip !== undefined || todo !== undefined)
    return { outcome: 'skipped', detail: describeReason(skip ?? todo) }
  if (type === 'test:pass') return { outcome: 'passed' }
  return { outcome: 'failed', detail: inspect(details.error?.cause ?? details.error, { depth: 5 }) }
}

const describeReason = (reason) => (typeof reason === 'string' ? reason : 'no reason given')
