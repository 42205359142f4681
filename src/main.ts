import { commandGroups } from './cli/commands.ts'
import { runCli } from './cli/run-cli.ts'
import { openStore } from './compose/open-store.ts'
import { ConfigError, readConfig, type Config } from './config.ts'
import { createLogger } from './runtime/logger.ts'

/** The program: settings, then the command. */
const main = async (argv: readonly string[]): Promise<number> => {
  let config: Config
  try {
    config = readConfig()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.message}\n`)
    return 1
  }
  return runCli(argv, commandGroups, {
    config,
    withDatabase: async (work) => {
      const store = await openStore(
        { databaseUrl: config.DATABASE_URL, dataFolder: config.OUTDIAL_DATA },
        'command',
        createLogger('error'),
      )
      try {
        return await work(store.database)
      } finally {
        await store.stop()
      }
    },
    print: (text) => void process.stdout.write(`${text}\n`),
    warn: (text) => void process.stderr.write(`${text}\n`),
    isTerminal: process.stdout.isTTY,
    ...(process.stdout.isTTY && { terminalWidth: process.stdout.columns }),
  })
}

const argv = process.argv.slice(2)
// Whoever reads our answer may have read enough: `outdial call show ID | head -1`. The service has calls to end first.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  if (argv[0] !== 'start') process.exit()
})
process.exitCode = await main(argv)
