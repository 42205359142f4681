import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { CommandBlock } from './document-blocks.ts'

/**
 * A person at a terminal who pastes the commands of documents: one bash, and one more for each command that keeps
 * running.
 */
export interface ReaderShell {
  /** Runs a block to its end. Rejects with its output when one of its commands fails, or after `limitMs`. */
  run(block: CommandBlock, limitMs: number): Promise<string>
  /** Closes every terminal: their programs get SIGTERM, and are awaited. */
  close(): Promise<void>
}

export interface ReaderOptions {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
}

/** Prints each failing command, and at the end of a block a line that no document prints. */
const prelude = `set -E -o pipefail\ntrap 'printf "\\nFAILED: %s\\n" "$BASH_COMMAND"' ERR\n`
const mark = 'end-of-block-5d1f'
const stopLimitMs = 60_000

export const openReaderShell = ({ folder, env }: ReaderOptions): ReaderShell => {
  const shell = openBash({ folder, env })
  const terminals = new Map<string, ChildProcess>()
  shell.child.stdin?.write(prelude)
  return {
    run: async (block, limitMs) => {
      const { manner, commands } = block
      if (manner.kind === 'not_run') return ''
      if (manner.kind === 'to_its_end') {
        const from = shell.output().length
        // Without input: a command that reads would consume the blocks after it.
        shell.child.stdin?.write(`{\n${commands}\n} </dev/null\nprintf '\\n${mark}\\n'\n`)
        const said = await shell.until(mark, from, limitMs, placeOf(block))
        const failed = /^FAILED: .*$/m.exec(said)
        if (failed) throw new Error(`${placeOf(block)}: ${failed[0]}\n${said}`)
        return said
      }
      await end(terminals.get(manner.terminal))
      const terminal = openBash({ folder, env }, ['-c', asOneProcess(commands)])
      terminal.child.stdin?.end()
      terminals.set(manner.terminal, terminal.child)
      return terminal.until(manner.until, 0, limitMs, placeOf(block))
    },
    close: async () => {
      await Promise.all([...terminals.values()].map(end))
      await end(shell.child)
    },
  }
}

/** The last command replaces the shell, so that the terminal's SIGTERM reaches it as Ctrl-C would. */
const asOneProcess = (commands: string): string => {
  const assignments = /^((?:\w+=\S*\s+(?:\\\n)?)*)([\s\S]*)$/.exec(commands.trim())
  const [, settings = '', command = ''] = assignments ?? []
  return `${settings}exec ${command}`
}

const placeOf = ({ document, line }: CommandBlock): string => `${document}:${line}`

const openBash = ({ folder, env }: ReaderOptions, args: readonly string[] = []) => {
  const child = spawn('bash', ['--noprofile', '--norc', ...args], {
    cwd: folder,
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let text = ''
  let onMore = (): void => undefined
  const keep = (chunk: Buffer): void => {
    text += chunk.toString()
    onMore()
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  child.on('close', () => onMore())
  return {
    child,
    output: () => text,
    until: (wanted: string, from: number, limitMs: number, place: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const giveUp = (why: string): void => {
          clearTimeout(timer)
          reject(new Error(`${place}: ${why}\n${text.slice(from)}`))
        }
        const timer = setTimeout(() => giveUp(`"${wanted}" was not printed in time`), limitMs)
        onMore = () => {
          if (text.includes(wanted, from)) {
            clearTimeout(timer)
            resolve(text.slice(from))
          } else if (child.exitCode !== null) giveUp(`the shell ended with ${child.exitCode}`)
        }
        onMore()
      }),
  }
}

const end = async (child: ChildProcess | undefined): Promise<void> => {
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), stopLimitMs)
  await closed
  clearTimeout(timer)
}
