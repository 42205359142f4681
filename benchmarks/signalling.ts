/**
 * Calls a second of one caller, INVITE to BYE without audio, against the same callee (SIPp): ours, and SIPp's own caller,
 * by turns in fresh processes. Usage: `npm run bench signalling -- [calls] [at a time] [rounds]`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freeUdpPort } from '../tests/support/free-port.ts'

interface Figures {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly failed: number
}

/** Of SIPp's calls a second: a program of C++ that makes messages from templates. */
const goal = 0.5
const [calls = 5000, atATime = 50, rounds = 3] = process.argv.slice(2).map(Number)

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** Runs a program to its end. Processor time is that of the program and of what it waited for. */
const run = async (command: string, parameters: readonly string[], cwd: string) => {
  const child = spawn(command, parameters, { cwd, stdio: ['ignore', 'pipe', 'ignore'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-10_000)))
  const [status] = (await once(child, 'exit')) as [number]
  return { status, output }
}

const withCallee = async <T>(task: (port: number, folder: string) => Promise<T>): Promise<T> => {
  const folder = await mkdtemp(join(tmpdir(), 'outdial-bench-'))
  const port = await freeUdpPort()
  const flags = `-sn uas -i 127.0.0.1 -p ${port} -nostdin -buff_size 4000000`
  const callee = spawn('sipp', flags.split(' '), { cwd: folder, stdio: 'ignore' })
  const ended = once(callee, 'exit')
  try {
    await delay(1_000)
    return await task(port, folder)
  } finally {
    callee.kill('SIGKILL')
    await ended
    await rm(folder, { recursive: true })
  }
}

const ours = (): Promise<Figures> =>
  withCallee(async (port, folder) => {
    const script = join(import.meta.dirname, 'signalling', 'our-caller.ts')
    const given = [port, calls, atATime].map(String)
    const { output } = await run(process.execPath, [script, ...given], folder)
    return JSON.parse(output) as Figures
  })

/** As many calls at a time as ours; a new one begins as soon as one has ended. */
const sipps = (): Promise<Figures> =>
  withCallee(async (port, folder) => {
    const own = await freeUdpPort()
    const flags = `-sn uac 127.0.0.1:${port} -i 127.0.0.1 -p ${own} -d 0 -m ${calls} -l ${atATime} -r 100000 -nostdin -buff_size 4000000`
    const times = join(folder, 'times')
    const timed = `TIMEFORMAT='%R %U %S'; { time sipp ${flags} >/dev/null 2>&1; } 2>${times}`
    const { status } = await run('bash', ['-c', timed], folder)
    const [seconds = 0, user = 0, system = 0] = (await readFile(times, 'utf8'))
      .trim()
      .split(/\s+/)
      .map(Number)
    return { seconds, cpuSeconds: user + system, failed: status === 0 ? 0 : 1 }
  })

const rates = { ours: [] as number[], sipp: [] as number[] }
const ratios: number[] = []
for (let round = 1; round <= rounds; round += 1) {
  for (const [name, measure] of [
    ['ours', ours],
    ['sipp', sipps],
  ] as const) {
    const { seconds, cpuSeconds, failed } = await measure()
    rates[name].push(calls / seconds)
    const us = ((cpuSeconds / calls) * 1e6).toFixed(0)
    console.log(
      `${name.padEnd(5)} ${(calls / seconds).toFixed(0).padStart(6)} calls/s, ${us} µs of CPU a call${failed > 0 ? `, ${failed} FAILED` : ''}`,
    )
  }
  ratios.push((rates.ours.at(-1) ?? 0) / (rates.sipp.at(-1) ?? 1))
}
const ratio = median(ratios)
console.log(
  `${median(rates.ours).toFixed(0)} calls/s, ${ratio.toFixed(2)} of SIPp's ${median(rates.sipp).toFixed(0)} (goal ${goal}): ${ratio >= goal ? 'reached' : 'missed'}`,
)
