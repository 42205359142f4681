// Takes the trunk away from a service with queued calls, in each of six ways, and proves that it waits, probes and
// resumes: `npm run outage [-- --minutes 10] [--calls 1000] [--cps 20] [--ways refused,silent,dns,certificate,password,503]
// [--together 1]`. `--together`: how many ways are played at once, each with a service of its own. Exit status 1 if a
// promise was broken.
import { parseArgs } from 'node:util'
import { describeOutages } from './trial/describe-outages.ts'
import type { OutageReport } from './trial/judge-outage.ts'
import { runWay } from './trial/run-way.ts'
import { ways, type Way } from './trial/ways.ts'

const usage =
  'usage: npm run outage -- [--minutes N] [--calls N] [--cps N] [--ways a,b] [--together N]'
const maxCalls = 5_000
const maxMinutes = 24 * 60

const readOptions = () => {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '10' },
      calls: { type: 'string', default: '1000' },
      cps: { type: 'string', default: '20' },
      ways: { type: 'string', default: ways.map(({ name }) => name).join(',') },
      together: { type: 'string', default: '1' },
    },
  })
  const [minutes, calls, callsPerSecond, together] = [
    Number(values.minutes),
    Number(values.calls),
    Number(values.cps),
    Number(values.together),
  ]
  const chosen = values.ways.split(',').map((name) => ways.find((way) => way.name === name))
  const isUsable =
    minutes > 0 &&
    minutes <= maxMinutes &&
    Number.isInteger(calls) &&
    calls >= 20 &&
    calls <= maxCalls &&
    callsPerSecond >= 1 &&
    Number.isInteger(together) &&
    together >= 1
  const known = chosen.filter((way) => way !== undefined)
  if (!isUsable || known.length !== chosen.length) {
    process.stderr.write(`${usage}\n`)
    process.exit(2)
  }
  return { awayMs: minutes * 60_000, calls, callsPerSecond, chosen: known, together }
}

const main = async (): Promise<void> => {
  const { chosen, together, ...options } = readOptions()
  const waiting = [...chosen]
  const reports: OutageReport[] = []
  const playNext = async (): Promise<void> => {
    for (let way: Way | undefined; (way = waiting.shift()) !== undefined;) {
      const report = await runWay(way, {
        ...options,
        isTimed: true,
        report: (line) => console.log(`  ${line}`),
      })
      reports.push(report)
    }
  }
  await Promise.all(Array.from({ length: together }, playNext))
  const broken = reports.flatMap(({ problems }) => problems).length
  console.log(describeOutages(reports))
  console.log(`outage: ${reports.length} ways, ${broken} broken promises (goal 0)`)
  process.exitCode = broken === 0 ? 0 : 1
}

await main()
