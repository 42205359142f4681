// Attacks a running product as strangers on the internet and malicious tenants would: `npm run attack [-- --short]
// [--only NAME,…] [--product CHECKOUT]`. Each attack prints a row; two live calls must survive them all. `--short`
// omits those that take minutes. Exit status 1 if a promise was broken.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { limits } from './stage/attack.ts'
import { attacks } from './stage/attacks.ts'
import { describeRow, describeRun, runAttacks } from './stage/run-attacks.ts'

const usage = 'usage: npm run attack -- [--short] [--only NAME,…] [--product CHECKOUT]'

const refuse = (message: string): never => {
  process.stderr.write(`${message}\n${usage}\n`)
  process.exit(2)
}

const readOptions = () => {
  try {
    return parseArgs({
      options: {
        short: { type: 'boolean', default: false },
        only: { type: 'string' },
        product: { type: 'string', default: join(import.meta.dirname, '../..') },
      },
    }).values
  } catch (error) {
    return refuse((error as Error).message)
  }
}

const main = async (): Promise<void> => {
  const { short, only, product } = readOptions()
  const names = only?.split(',')
  const unknown = names?.find((name) => !attacks.some((attack) => attack.name === name))
  const known = attacks.map(({ name }) => name).join(', ')
  if (unknown !== undefined) refuse(`No attack is named ${unknown}: choose from ${known}.`)
  const root = resolve(product)
  if (!existsSync(join(root, 'src/main.ts'))) refuse(`${root} is no checkout.`)
  if (process.platform !== 'linux') refuse('The attacks need the loopback addresses of Linux.')
  const rows = await runAttacks({
    root,
    limits,
    attacks: attacks.filter(({ name, isLong }) => names?.includes(name) ?? !(short && isLong)),
    onRow: (row) => console.log(describeRow(row)),
  })
  console.log(describeRun(rows))
  // An aborted attack may have left a socket open.
  process.exit(rows.every(({ problems }) => problems.length === 0) ? 0 : 1)
}

await main()
