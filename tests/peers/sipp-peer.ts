import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freeUdpPort } from '../support/free-port.ts'
import { until } from '../support/until.ts'

const scenarios = join(import.meta.dirname, 'sipp')

/** One SIPp, callee or caller: plays a scenario for one call. */
export interface SippPeer {
  readonly port: number
  /** Resolves when SIPp completed its scenario; otherwise rejects with its error. */
  readonly succeeded: Promise<void>
}

/**
 * Why the peer tests cannot run here; `undefined` when they can. In CI a missing SIPp is a failure, not a reason.
 */
export const missingSipp = (): string | undefined => {
  try {
    execFileSync('sipp', ['-v'], { stdio: 'ignore' })
    return undefined
  } catch (error) {
    // SIPp ends `-v` with status 99.
    if (error instanceof Error && 'status' in error && error.status === 99) return undefined
    if (process.env['CI'] !== undefined) throw new Error('SIPp is not installed', { cause: error })
    return 'SIPp is not installed (Debian: sip-tester)'
  }
}

/**
 * Starts SIPp as callee, and waits until it listens: a trunk with a closed port refuses, and the call would wait.
 */
export const startSipp = async (scenario: string): Promise<SippPeer> => {
  const peer = await playSipp(scenario, await freeUdpPort(), [])
  await until('SIPp to listen', () => Promise.resolve(isBound(peer.port) ? true : undefined))
  return peer
}

/** Starts SIPp as caller: from this port of 127.0.0.1 to that one. */
export const startSippCaller = (
  scenario: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<SippPeer> => playSipp(scenario, from, [`127.0.0.1:${to}`])

const playSipp = async (
  scenario: string,
  port: number,
  target: readonly string[],
): Promise<SippPeer> => {
  const mediaPort = await freeUdpPort()
  const folder = mkdtempSync(join(tmpdir(), 'sipp-'))
  const flags = `-i 127.0.0.1 -p ${port} -mp ${mediaPort} -m 1 -timeout 30 -timeout_error -nostdin`
  const child = spawn(
    'sipp',
    [
      ...target,
      '-sf',
      join(scenarios, `${scenario}.xml`),
      ...flags.split(' '),
      '-trace_err',
      '-error_file',
      join(folder, 'errors.log'),
    ],
    { stdio: 'ignore', cwd: folder },
  )
  const succeeded = once(child, 'exit').then(([status]) => {
    const errors = readErrors(folder)
    rmSync(folder, { recursive: true })
    if (status !== 0) throw new Error(`SIPp ended with ${status}: ${errors}`)
  })
  // The test awaits it at its end; until then a rejection must not count as unhandled.
  succeeded.catch(() => {})
  return { port, succeeded }
}

/**
 * Whether a UDP socket of this machine has the port, by the kernel's table, because probing the port itself would
 * send a message.
 */
const isBound = (port: number): boolean =>
  readFileSync('/proc/net/udp', 'utf8').includes(
    `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')} `,
  )

const readErrors = (folder: string): string =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.log'))
    .map((name) => readFileSync(join(folder, name), 'utf8').slice(0, 4000))
    .join('\n')
