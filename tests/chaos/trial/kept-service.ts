import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../../support/until.ts'

/** The service under a supervisor, as an operator would run it: restarted after every end. */
export interface KeptService {
  readonly apiUrl: string
  /** SIGKILL, also during its start. False: it was not running at this moment. */
  kill(): boolean
  /** Waits until it is ready. */
  ready(): Promise<void>
  starts(): number
  /** Unrequested ends: the service must outlive its database. */
  readonly surprises: readonly string[]
  /** SIGTERM, without another start. */
  stop(): Promise<void>
}

const main = join(import.meta.dirname, '../../../src/main.ts')
const restartDelayMs = 100
const readyPatienceMs = 90_000
const stopPatienceMs = 30_000

export const keepService = (
  env: Readonly<Record<string, string>>,
  logPath: string,
): KeptService => {
  const apiUrl = `http://127.0.0.1:${env['OUTDIAL_API_PORT']}`
  const surprises: string[] = []
  let child: ChildProcess | undefined
  let isStopping = false
  let starts = 0

  const isReady = async (): Promise<boolean> =>
    (await fetch(`${apiUrl}/readyz`, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined))
      ?.ok ?? false

  const runOnce = async (): Promise<void> => {
    const log = openSync(logPath, 'a')
    const own = spawn(process.execPath, [main, 'start'], { env, stdio: ['ignore', log, log] })
    closeSync(log)
    child = own
    starts += 1
    let hasBeenReady = false
    const exited = once(own, 'exit').then(() => undefined)
    const watching = (async () => {
      while (!hasBeenReady && isAlive(own)) {
        hasBeenReady = await isReady()
        if (!hasBeenReady) await delay(100)
      }
    })()
    await exited
    await watching
    // A start may fail without the database; a running service must not give up.
    if (hasBeenReady && own.signalCode !== 'SIGKILL' && !isStopping)
      surprises.push(`it ended by itself with ${own.exitCode ?? own.signalCode}`)
  }

  const run = async (): Promise<void> => {
    while (!isStopping) {
      await runOnce()
      if (!isStopping) await delay(restartDelayMs)
    }
  }
  const running = run()

  return {
    apiUrl,
    surprises,
    starts: () => starts,
    kill: () => (child && isAlive(child) ? child.kill('SIGKILL') : false),
    ready: () =>
      until('the service to be ready', async () => ((await isReady()) ? true : undefined), {
        timeoutMs: readyPatienceMs,
      }).then(() => undefined),
    async stop() {
      isStopping = true
      const last = child
      last?.kill('SIGTERM')
      const timer = setTimeout(() => last?.kill('SIGKILL'), stopPatienceMs)
      await running
      clearTimeout(timer)
    },
  }
}

const isAlive = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode === null && signalCode === null
