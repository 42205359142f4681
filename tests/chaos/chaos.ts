// Kills services and PostgreSQL at random under load, and then checks every promise: `npm run chaos -- --kills 200
// [--seed 1] [--shape single|pair|both]`. Exit status 1 if one was broken. The seed decides the kills.
import { parseArgs } from 'node:util'
import { describeTrial } from './trial/describe-trial.ts'
import { runTrial } from './trial/run-trial.ts'
import type { Shape } from './trial/fleet.ts'

const defaultKills = 40
/** Kills come every three seconds on average; twice that is the limit. */
const limitPerKillMs = 6_000
const maxKills = 10_000

const usage = 'usage: npm run chaos -- [--kills N] [--seed S] [--shape single|pair|both]'

const shapesOf: Readonly<Record<string, readonly Shape[]>> = {
  single: ['single'],
  pair: ['pair'],
  both: ['single', 'pair'],
}

const readOptions = () => {
  const { values } = parseArgs({
    options: {
      kills: { type: 'string', default: String(defaultKills) },
      seed: { type: 'string', default: '1' },
      shape: { type: 'string', default: 'both' },
    },
  })
  const kills = Number(values.kills)
  const seed = Number(values.seed)
  const shapes = shapesOf[values.shape]
  const isUsable = Number.isInteger(kills) && kills >= 1 && kills <= maxKills
  if (!shapes || !isUsable || !Number.isInteger(seed) || seed < 0) {
    process.stderr.write(`${usage}\n`)
    process.exit(2)
  }
  return { kills, seed, shapes }
}

const main = async (): Promise<void> => {
  const { kills, seed, shapes } = readOptions()
  let struck = 0
  let broken = 0
  for (const [index, shape] of shapes.entries()) {
    const own = Math.ceil((kills - struck) / (shapes.length - index))
    const killingLimitMs = own * limitPerKillMs
    const report = await runTrial({
      shape,
      seed: seed + index,
      kills: own,
      killingLimitMs,
      report: (line) => console.log(`  ${line}`),
    })
    console.log(describeTrial(report))
    struck += report.kills.service + report.kills.postgres
    broken += report.problems.length
  }
  console.log(`chaos: ${struck} kills, ${broken} promises broken (seed ${seed})`)
  process.exitCode = broken === 0 ? 0 : 1
}

await main()
