import { styleText } from 'node:util'
import { commandGroups } from './cli/commands.ts'
import { runCli } from './cli/run-cli.ts'
import { ConfigError, loadEnvFile, readConfig, type Config } from './config/read-config.ts'
import { createLogger } from './runtime/logger.ts'
import { plainText } from './runtime/plain-text.ts'
import { terminalWidthOf } from './cli/terminal/terminal-width.ts'

/** The program: settings, then the command. */
const main = async (argv: readonly string[]): Promise<number> => {
  let config: Config
  try {
    const places = loadEnvFile()
    config = readConfig(undefined, places)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.problems.map(plainText).join('\n')}\n`)
    return 1
  }
  return runCli(argv, commandGroups, {
    config,
    withDatabase: async (work, mayCreate) => {
      const { openStore, requireInstallation } = await import('./database/open-store.ts')
      if (!mayCreate) await requireInstallation(config.store)
      const store = await openStore(config.store, 'command', createLogger('error'))
      try {
        return await work(store.database)
      } finally {
        await store.stop()
      }
    },
    print: (text) => void process.stdout.write(`${text}\n`),
    warn: (text) => void process.stderr.write(`${text}\n`),
    isTerminal: process.stdout.isTTY,
    get terminalWidth() {
      return terminalWidthOf(process.stdout)
    },
    // Node detects the terminals and variables that enable or disable colours.
    hasColour: styleText('bold', ' ', { stream: process.stdout }) !== ' ',
  })
}

const argv = process.argv.slice(2)
// A service has calls to hold, whatever happens to its output; a command has nothing left to do.
process.stderr.on('error', () => undefined)
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (argv[0] === 'start') return
  // The reader of the output may have read enough: `outdial call show ID | head -1`.
  if (error.code === 'EPIPE') process.exit()
  process.stderr.write(`The answer cannot be written: ${error.message}.\n`)
  process.exit(1)
})
process.exitCode = await main(argv)
