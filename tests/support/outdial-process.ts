import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freeTcpPort } from './free-port.ts'
import { copyMadeDatabase } from './made-database.ts'
import { until } from './until.ts'

/** The program as an operator runs it: its own process, data folder and ports. */
export interface OutdialProcess {
  readonly apiUrl: string
  readonly env: Readonly<Record<string, string>>
  readonly child: ChildProcess
  readonly output: () => string
  /** SIGTERM and the exit status. */
  stop(): Promise<number | null>
  /** SIGKILL of the process alone. */
  kill(): Promise<void>
}

const main = join(import.meta.dirname, '../../src/main.ts')

/** The environment without the test runner's own settings. */
const inherited = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || name.startsWith('OUTDIAL_') || name.startsWith('DATABASE_URL')
        ? []
        : [[name, value]],
    ),
  )

/** Its own data folder and ports; deleted by `remove`. With an empty database, unless settings name another one. */
export const createInstallation = async (settings: Record<string, string> = {}) => {
  const installation = await createNewInstallation(settings)
  if (settings['DATABASE_URL'] === undefined) await copyMadeDatabase(installation.data)
  return installation
}

/** The same with an empty data folder, as a person starts for the first time. */
export const createNewInstallation = async (settings: Record<string, string> = {}) => {
  const data = mkdtempSync(join(tmpdir(), 'outdial-test-'))
  const env: Record<string, string> = {
    ...inherited(),
    OUTDIAL_DATA: data,
    OUTDIAL_API_PORT: String(await freeTcpPort()),
    OUTDIAL_DASHBOARD_PORT: String(await freeTcpPort()),
    OUTDIAL_MEDIA_PORT: String(await freeTcpPort()),
    ...settings,
  }
  return { env, data, remove: () => rmSync(data, { recursive: true, force: true, maxRetries: 5 }) }
}

/** Starts the service and waits until it is ready. */
export const startOutdial = async (
  env: Readonly<Record<string, string>>,
  timeoutMs = 60_000,
): Promise<OutdialProcess> => {
  const child = spawn(process.execPath, [main, 'start'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-200_000)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  const exited = once(child, 'exit')
  const apiUrl = `http://127.0.0.1:${env['OUTDIAL_API_PORT']}`
  try {
    await until(
      'the service to be ready',
      async () => {
        if (child.exitCode !== null) throw new Error(`The service ended early:\n${output}`)
        const response = await fetch(`${apiUrl}/readyz`).catch(() => undefined)
        return response?.ok ? true : undefined
      },
      { timeoutMs },
    )
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal)
    await exited
    return child.exitCode
  }
  return {
    apiUrl,
    env,
    child,
    output: () => output,
    stop: () => end('SIGTERM'),
    kill: async () => {
      await end('SIGKILL')
    },
  }
}

export interface CommandResult {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** For `until` with a command: each takes 0.4 s of processor time, which the awaited calls need. */
export const everyCommand = { everyMs: 1_000 } as const

/** Runs one `outdial` command to its end. */
export const runOutdial = async (
  env: Readonly<Record<string, string>>,
  ...args: string[]
): Promise<CommandResult> => {
  const child = spawn(process.execPath, [main, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 120_000,
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  await once(child, 'close')
  return { status: child.exitCode, stdout, stderr }
}

/** Runs a command with `--json` and returns its output; throws unless it succeeds. */
export const askOutdial = async <T>(
  env: Readonly<Record<string, string>>,
  ...args: string[]
): Promise<T> => {
  const { status, stdout, stderr } = await runOutdial(env, ...args, '--json')
  if (status !== 0) throw new Error(`outdial ${args.join(' ')} ended with ${status}: ${stderr}`)
  return JSON.parse(stdout) as T
}
