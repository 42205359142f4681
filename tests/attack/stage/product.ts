import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, closeSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freeTcpPort, freeUdpPort } from '../../support/free-port.ts'
import { until } from '../../support/until.ts'
import { collect, runMeasured, type CommandResult } from './command.ts'

/** A data folder and ports, which a product keeps over its restarts. */
export interface Home {
  readonly data: string
  readonly apiPort: number
  readonly dashboardPort: number
  readonly mediaPort: number
  readonly sipPort: number
  remove(): void
}

/** The product as an operator runs it: a child process with its own data folder. */
export interface Product {
  readonly apiUrl: string
  readonly home: Home
  readonly databaseUrl: string
  readonly pid: number
  readonly isAlive: boolean
  /** The output of `start --json`, including the first key. */
  readonly started: StartDocument
  /** Its log so far; empty if it is not read. */
  output(): string
  /** One command of the command line to its end. */
  run(...args: string[]): Promise<CommandResult>
  /** Runs it with `--json`; throws unless it succeeds. */
  ask<T>(...args: string[]): Promise<T>
  signal(name: NodeJS.Signals): void
  stop(): Promise<void>
}

export interface StartDocument {
  readonly first_start?: {
    readonly api_key: string
    readonly agent_id: string
    readonly contact_id: string
  }
}

export interface ProductOptions {
  /** The checkout that is attacked. */
  readonly root: string
  readonly settings: Readonly<Record<string, string>>
  /** `unread`: a pipe without a reader; `full`: a full disk. */
  readonly log?: 'read' | 'unread' | 'full'
  /** Variables that are not settings of the product. */
  readonly environment?: Readonly<Record<string, string>>
}

const readyTimeoutMs = 90_000
const stopPatienceMs = 8_000

export const createHome = async (): Promise<Home> => {
  const data = mkdtempSync(join(tmpdir(), 'outdial-attack-'))
  return {
    data,
    apiPort: await freeTcpPort(),
    dashboardPort: await freeTcpPort(),
    mediaPort: await freeTcpPort(),
    sipPort: await freeUdpPort(),
    remove: () => rmSync(data, { recursive: true, force: true, maxRetries: 5 }),
  }
}

export const startProduct = async (home: Home, options: ProductOptions): Promise<Product> => {
  const { root, log = 'read' } = options
  const main = join(root, 'src/main.ts')
  const env = environmentOf(home, { ...options.settings, ...options.environment })
  const full = log === 'full' ? openSync('/dev/full', 'w') : undefined
  const child = spawn(process.execPath, [main, 'start', '--json'], {
    env,
    stdio: ['ignore', 'pipe', full ?? 'pipe'],
  })
  if (full !== undefined) closeSync(full)
  const exited = once(child, 'exit')
  const apiUrl = `http://127.0.0.1:${home.apiPort}`
  const stdout = collect(child.stdout)
  const stderr = log === 'read' ? collect(child.stderr) : () => ''
  await until(
    'the product to be ready',
    async () => {
      if (hasEnded(child)) throw new Error(`The product ended early:\n${stdout()}${stderr()}`)
      const response = await fetch(`${apiUrl}/readyz`).catch(() => undefined)
      return (response?.ok && parseDocument(stdout()) !== undefined) || undefined
    },
    { timeoutMs: readyTimeoutMs },
  )
  const run = (...args: string[]): Promise<CommandResult> => runMeasured(main, env, args)
  return {
    apiUrl,
    home,
    databaseUrl: options.settings['DATABASE_URL'] ?? '',
    pid: child.pid ?? 0,
    get isAlive() {
      return !hasEnded(child)
    },
    started: parseDocument(stdout()) ?? {},
    output: () => stdout() + stderr(),
    run,
    async ask<T>(...args: string[]) {
      const result = await run(...args, '--json')
      if (result.status !== 0)
        throw new Error(`outdial ${args.join(' ')} ended with ${result.status}: ${result.stderr}`)
      return JSON.parse(result.stdout) as T
    },
    signal: (name) => void child.kill(name),
    async stop() {
      if (!hasEnded(child)) {
        child.kill('SIGCONT')
        child.kill('SIGTERM')
        const timer = setTimeout(() => child.kill('SIGKILL'), stopPatienceMs)
        await exited
        clearTimeout(timer)
      }
      child.stdout?.destroy()
      child.stderr?.destroy()
    },
  }
}

/** The environment of the product and its commands. */
export const environmentOf = (
  home: Home,
  settings: Readonly<Record<string, string>>,
): Record<string, string> => ({
  ...withoutSettings(process.env),
  OUTDIAL_DATA: home.data,
  OUTDIAL_API_PORT: String(home.apiPort),
  OUTDIAL_DASHBOARD_PORT: String(home.dashboardPort),
  OUTDIAL_MEDIA_PORT: String(home.mediaPort),
  OUTDIAL_SIP_PORT: String(home.sipPort),
  OUTDIAL_DRAIN_SECONDS: '0',
  ...settings,
})

const withoutSettings = (env: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || name.startsWith('OUTDIAL_') || name.startsWith('DATABASE_URL')
        ? []
        : [[name, value]],
    ),
  )

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode !== null || signalCode !== null

const parseDocument = (text: string): StartDocument | undefined => {
  try {
    return JSON.parse(text) as StartDocument
  } catch {
    return undefined
  }
}
