import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { yieldSession, yieldingNiceness } from '../../tests/support/yield-session.ts'

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..')

/** The kept part of a child's output; the end explains a failure. */
const maxOutput = 200_000

/** The program itself takes the place of `nice`. */
const yielding = process.platform === 'win32' ? [] : ['nice', '-n', String(yieldingNiceness)]

/**
 * Runs Node with `args` until it ends, or is killed with all its children: after `timeoutMs`, or when `signal`
 * aborts. Returns `{ status, output, killed? }`, `killed` being the reason. With `yields` the child and its children
 * leave the processors to others that want them.
 */
export const runNode = (args, { timeoutMs, signal, environment = {}, yields = false }) =>
  new Promise((resolve) => {
    let output = ''
    let killed
    const [program, ...words] = yields
      ? [...yielding, process.execPath, ...args]
      : [process.execPath, ...args]
    const child = spawn(program, words, {
      cwd: root,
      env: { ...testEnvironment(), ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A separate process group, so that a test's peers die with it.
      detached: true,
    })
    if (yields && child.pid !== undefined) yieldSession(child.pid)
    const kill = (reason) => {
      killed ??= reason
      killGroup(child.pid)
    }
    const timer = setTimeout(() => kill(`after ${timeoutMs / 1000} s`), timeoutMs)
    const onAbort = () => kill(signal.reason)
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output = (output + text).slice(-maxOutput)))
    const settle = (status) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      resolve({ status, output, ...(killed === undefined ? {} : { killed }) })
    }
    child.once('error', (error) => {
      output += error.message
      settle(1)
    })
    // Not 'close': a remaining peer may hold the pipe open.
    child.once('exit', (status, signalName) => setImmediate(() => settle(status ?? signalName)))
  })

const killGroup = (pid) => {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It ended by itself in between.
  }
}

/** The developer's own settings are not for the product under test. */
const testEnvironment = () =>
  Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        name.startsWith('OUTDIAL_TEST_') ||
        (!name.startsWith('OUTDIAL_') && !['DATABASE_URL', 'NODE_TEST_CONTEXT'].includes(name)),
    ),
  )
