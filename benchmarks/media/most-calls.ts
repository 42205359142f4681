import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { g711Silence } from '../../src/audio/g711.ts'
import { openRtpSession } from '../../src/rtp/rtp-session.ts'
import { PhasedTicker } from '../../src/rtp/ticker.ts'

const goalCalls = 600
const maxLateMs = 5
const [fewest, most, step] = [50, 2_000, 25]
/** The ticker looks back ten seconds at least: what was late while the calls began is out of sight then. */
const settleMs = 4_000
const socket = { bindAddress: '127.0.0.1', portRange: { min: 20_000, max: 39_998 } }

/** The greatest number of calls whose packets leave at most 5 ms late (p99), found by bisection. */
export const findMostCalls = async (seconds: number): Promise<string> => {
  let [good, bad] = [0, most + step]
  for (let calls = goalCalls; bad - good > step;) {
    const { lateMs, lost } = await tryCalls(calls, seconds)
    const isGood = lateMs <= maxLateMs && lost < 0.01
    console.log(
      `${calls} calls: packets leave ${lateMs} ms late (p99), ${(lost * 100).toFixed(2)} % lost`,
    )
    if (isGood) good = calls
    else bad = calls
    calls = Math.max(fewest, Math.round((good + bad) / 2 / step) * step)
    if (calls === good || calls === bad) break
  }
  const verdict = good >= goalCalls ? 'reached' : 'missed'
  return `${good} calls with p99 ≤ ${maxLateMs} ms (goal ${goalCalls}): ${verdict}`
}

/** Sessions on one thread; their far ends are another process. */
const tryCalls = async (
  calls: number,
  seconds: number,
): Promise<{ lateMs: number; lost: number }> => {
  const echo = spawn(process.execPath, [join(import.meta.dirname, 'echo.ts'), String(calls)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(echo, 'exit')
  const [line] = (await once(createInterface(echo.stdout), 'line')) as [string]
  const ports = JSON.parse(line) as number[]
  const sessions = await Promise.all(ports.map(() => openRtpSession(socket)))
  const silence = g711Silence('pcmu')
  const settling = new PhasedTicker()
  const measured = new PhasedTicker()
  const start = (ticker: PhasedTicker): void => {
    for (const session of sessions)
      ticker.add(
        () => {
          session.receive()
          session.send(silence)
        },
        (error) => {
          throw error
        },
      )
  }
  for (const [index, session] of sessions.entries())
    session.connect({
      remote: { address: '127.0.0.1', port: ports[index] ?? 0 },
      codec: 'pcmu',
      payloadType: 0,
    })
  start(settling)
  await delay(settleMs)
  settling.stop()
  const before = countsOf(sessions)
  start(measured)
  await delay(seconds * 1_000)
  const { p99Ms } = measured.lateness()
  measured.stop()
  await delay(200)
  const after = countsOf(sessions)
  await Promise.all(sessions.map((each) => each.close()))
  echo.kill('SIGKILL')
  await ended
  const [sent, received] = [after.sent - before.sent, after.received - before.received]
  return { lateMs: p99Ms, lost: Math.max(0, 1 - received / Math.max(1, sent)) }
}

const countsOf = (sessions: readonly Awaited<ReturnType<typeof openRtpSession>>[]) => {
  const all = sessions.map((each) => each.stats())
  return {
    sent: all.reduce((sum, { packetsSent }) => sum + packetsSent, 0),
    received: all.reduce((sum, { packetsReceived }) => sum + packetsReceived, 0),
  }
}
