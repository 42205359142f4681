/**
 * Processor time for each RTP packet, sent or received: plain, with the recorder, with SRTP. Pairs of our own sessions talk
 * over loopback, on one ticker and one thread. Usage: `npm run bench media -- [calls] [seconds]`. With `most` it looks for
 * the greatest number of calls of one thread that are sent in time, their far ends in another process: `npm run bench
 * media -- most [seconds]`.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { findMostCalls } from './media/most-calls.ts'
import type { OrganizationId } from '../src/contract/organization-id.ts'
import { g711Silence } from '../src/audio/g711.ts'
import { createRecorderSpool } from '../src/live-call/recording/recorder-spool.ts'
import { openRtpSession } from '../src/rtp/rtp-session.ts'
import type { RtpMedia, RtpSession } from '../src/rtp/rtp-session-types.ts'
import { PhasedTicker } from '../src/rtp/ticker.ts'
import { sdesKeyBytes, sdesSuites, type SdesSuite } from '../src/sdp/crypto-line.ts'

interface Mode {
  readonly name: string
  readonly isRecorded?: boolean
  readonly suite?: SdesSuite
}

const modes: readonly Mode[] = [
  { name: 'plain' },
  { name: 'recorded', isRecorded: true },
  ...sdesSuites.map((suite) => ({ name: suite, suite })),
]
const socket = { bindAddress: '127.0.0.1', portRange: { min: 20_000, max: 39_998 } }
const goalUs = 8
const warmUpMs = 1_000

const main = async (): Promise<void> => {
  const calls = Number(process.argv[2] ?? 100)
  const seconds = Number(process.argv[3] ?? 10)
  const folder = await mkdtemp(join(tmpdir(), 'outdial-bench-'))
  const costs = new Map<string, number>()
  try {
    for (const mode of modes) {
      const result = await measure(mode, calls, seconds, folder)
      costs.set(mode.name, result.usPerPacket)
      console.log(
        `${mode.name.padEnd(24)} ${result.usPerPacket.toFixed(2)} µs per packet, ${calls} calls, ${result.packets} packets, ticks late by ${result.latenessP99Ms} ms (p99)`,
      )
    }
  } finally {
    await rm(folder, { recursive: true })
  }
  const more = (costs.get('AES_CM_128_HMAC_SHA1_80') ?? 0) - (costs.get('plain') ?? 0)
  const verdict = more <= goalUs ? 'reached' : 'missed'
  console.log(
    `AES_CM_128_HMAC_SHA1_80 costs ${more.toFixed(2)} µs more (goal ${goalUs}): ${verdict}`,
  )
}

/** Both ends of a call are in the measured process, so that a packet counts once sent and once received. */
const measure = async (mode: Mode, calls: number, seconds: number, folder: string) => {
  const ticker = new PhasedTicker()
  const silence = g711Silence('pcmu')
  const pairs = await Promise.all(
    Array.from({ length: calls }, () =>
      Promise.all([openRtpSession(socket), openRtpSession(socket)]),
    ),
  )
  const spools = pairs.map((_pair, index) =>
    mode.isRecorded === true
      ? createRecorderSpool(join(folder, `${index}.spool`), header)
      : undefined,
  )
  for (const [index, [left, right]] of pairs.entries()) {
    const [one, other] = keysOf(mode.suite)
    left.connect({ ...mediaTo(right), ...one })
    right.connect({ ...mediaTo(left), ...other })
    for (const session of [left, right])
      ticker.add(
        () => {
          const heard = session.receive()
          session.send(silence)
          if (session === left) spools[index]?.write(silence, heard)
        },
        (error) => {
          throw error
        },
      )
  }
  await delay(warmUpMs)
  const sessions = pairs.flat()
  const before = { packets: packetsOf(sessions), cpu: process.cpuUsage() }
  await delay(seconds * 1_000)
  const { user, system } = process.cpuUsage(before.cpu)
  const packets = packetsOf(sessions) - before.packets
  const latenessP99Ms = ticker.lateness().p99Ms
  ticker.stop()
  await Promise.all([
    ...sessions.map((each) => each.close()),
    ...spools.map((each) => each?.close()),
  ])
  return { packets, usPerPacket: (user + system) / Math.max(1, packets), latenessP99Ms }
}

const packetsOf = (sessions: readonly RtpSession[]): number =>
  sessions.reduce((sum, each) => {
    const { packetsSent, packetsReceived } = each.stats()
    return sum + packetsSent + packetsReceived
  }, 0)

const header = {
  version: 1,
  codec: 'pcmu',
  organizationId: 'organization' as OrganizationId,
  callId: 'bench',
  startedAt: '2026-11-23T10:00:00.000Z',
} as const

const mediaTo = ({ address, port }: RtpSession): RtpMedia => ({
  remote: { address, port },
  codec: 'pcmu',
  payloadType: 0,
})

const keysOf = (suite: SdesSuite | undefined): readonly [Partial<RtpMedia>, Partial<RtpMedia>] => {
  if (suite === undefined) return [{}, {}]
  const [a, b] = [1, 2].map((byte) => Buffer.alloc(sdesKeyBytes[suite], byte).toString('base64'))
  const keys = (ownKey = '', theirKey = '') => ({ srtp: { suite, ownKey, theirKey } })
  return [keys(a, b), keys(b, a)]
}

if (process.argv[2] === 'most') console.log(await findMostCalls(Number(process.argv[3] ?? 10)))
else await main()
