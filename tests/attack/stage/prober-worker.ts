/** The program of the prober's thread. */
import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'
import type { Probes, ProberSettings } from './prober.ts'

if (parentPort === null) throw new Error('prober-worker.ts runs only as a worker thread.')
const port = parentPort
const settings = workerData as ProberSettings

const everyMs = 50
const giveUpMs = 15_000
/** A load balancer keeps its connection: this measures the product and not the accepting of sockets. */
const agent = new Agent({ keepAlive: true, maxSockets: 1 })

let slowestMs = 0
let answers = 0
let failures = 0
let baseMb = 0
let peakMb = 0
let askedMs: number | undefined

const residentMb = (): number => {
  try {
    const status = readFileSync(`/proc/${settings.pid}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

const ask = (): Promise<boolean> =>
  new Promise((resolve) => {
    const options = { host: '127.0.0.1', port: settings.port, path: '/healthz', agent }
    const request = get({ ...options, timeout: giveUpMs }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode === 200))
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(false))
  })

/** The lateness of this thread since the last read: delays of the machine are not the product's. */
let ownLateMs = 0
let tickedMs = performance.now()
const tickMs = 5
setInterval(() => {
  const nowMs = performance.now()
  ownLateMs = Math.max(ownLateMs, nowMs - tickedMs - tickMs)
  tickedMs = nowMs
}, tickMs)

const probe = async (): Promise<void> => {
  askedMs = performance.now()
  ownLateMs = 0
  const isAnswered = await ask()
  const tookMs = Math.max(0, performance.now() - askedMs - ownLateMs)
  askedMs = undefined
  if (isAnswered) answers += 1
  else failures += 1
  slowestMs = Math.max(slowestMs, tookMs)
  setTimeout(() => void probe(), everyMs)
}

const reset = (): void => {
  slowestMs = 0
  answers = 0
  failures = 0
  baseMb = residentMb()
  peakMb = baseMb
}

const read = (): Probes => ({
  // An open request counts with its time so far.
  slowestMs: Math.max(slowestMs, askedMs === undefined ? 0 : performance.now() - askedMs),
  answers,
  failures,
  grownMb: Math.max(0, peakMb - baseMb),
})

port.on('message', (question: 'reset' | 'read') => {
  const probes = read()
  if (question === 'reset') reset()
  port.postMessage(probes)
})
reset()
// Separate from the probes, because memory grows while they wait.
setInterval(() => {
  peakMb = Math.max(peakMb, residentMb())
}, everyMs)
void probe()
port.postMessage('ready')
