import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
/** Ctrl-C reaches us from the terminal and from npm: the command gets it once. */
const sameSignalMs = 500

const parentWatch = join(dirname(fileURLToPath(import.meta.url)), 'parent-watch.mjs')

/**
 * Runs `node` with `args` in our place: same files, our signals forwarded, the same exit status. It has its own
 * session, so that the terminal's Ctrl-C reaches it only through us, and it ends when we are killed.
 */
export const runWith = (node, args, compileCache) => {
  const child = spawn(node, ['--import', parentWatch, ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    detached: true,
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
  })
  let lastSignalMs = -Infinity
  const handOn = (signal) => {
    const now = performance.now()
    if (now - lastSignalMs < sameSignalMs) return
    lastSignalMs = now
    child.kill(signal)
  }
  for (const signal of signals) process.on(signal, handOn)
  child.on('exit', (status, signal) => {
    for (const each of signals) process.off(each, handOn)
    if (signal) process.kill(process.pid, signal)
    else process.exitCode = status
  })
}
