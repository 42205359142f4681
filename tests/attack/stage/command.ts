import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

export interface CommandResult {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface MeasuredResult extends CommandResult {
  /** Its maximum memory; 0 if the system does not report it. */
  readonly peakMb: number
}

const commandTimeoutMs = 180_000
const lookEveryMs = 50
const maxOutput = 4_000_000

/** One command of the command line to its end. */
export const runMeasured = async (
  main: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<MeasuredResult> => {
  const child = spawn(process.execPath, [main, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: commandTimeoutMs,
  })
  const stdout = collect(child.stdout)
  const stderr = collect(child.stderr)
  let peakMb = 0
  const timer = setInterval(() => {
    peakMb = Math.max(peakMb, highestMb(child.pid ?? 0))
  }, lookEveryMs)
  await once(child, 'close')
  clearInterval(timer)
  return { status: child.exitCode, stdout: stdout(), stderr: stderr(), peakMb }
}

/** The system remembers the maximum, so occasional sampling is enough. */
const highestMb = (pid: number): number => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

/** A stream's output so far, its last part if it is long. */
export const collect = (stream: NodeJS.ReadableStream | null): (() => string) => {
  let text = ''
  stream?.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-maxOutput)
  })
  return () => text
}
