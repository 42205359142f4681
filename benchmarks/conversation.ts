/**
 * Live conversations over real SIP and RTP, measured at the callee's end: the latency of replies, the time until an
 * interruption silences the agent, and processor and memory per call. Callees and the scripted model run in another
 * process; this one contains the product's parts: SIP user agent, media worker, conversation loop, recorder. Usage:
 * `npm run bench conversation -- [calls,calls,…] [seconds] [pcm]`, or `… -- leak [conversations]`. The model takes G.711,
 * as OpenAI's does; `pcm`: 24 kHz, as servers take that Outdial does not know.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { builtInTools } from '../src/conversation/tools/tools.ts'
import type { CallLedger, CallPlan, FinishedCall } from '../src/live-call/call/live-call-port.ts'
import {
  CallStop,
  type DialableCall,
  type RunCall,
} from '../src/domains/calls/lifecycle/hand-over.ts'
import { MediaWorkerPool } from '../src/live-call/media/media-worker-pool.ts'
import { createRunCall } from '../src/live-call/call/run-call.ts'
import { g711Wire, pcmWire } from '../src/conversation/engines/realtime/wire-audio.ts'
import { systemTime } from '../src/runtime/time.ts'
import type { OrganizationId } from '../src/contract/organization-id.ts'
import { newId } from '../src/runtime/ids.ts'
import { silentLogger } from '../src/runtime/logger.ts'
import { anySource } from '../src/sip/gate/sources.ts'
import { createUserAgent } from '../src/sip/user-agent/user-agent.ts'
import { createSipCarrier } from '../src/telephony/sip-carrier.ts'
import { parseTrunkUri } from '../src/telephony/trunk-uri.ts'
import type { CalleeFigures } from './conversation/measuring-callee.ts'

const logger = silentLogger
const defaultCalls = [1, 100, 300]
const defaultSeconds = 40
/** Calls begin within this time, so that their turns do not coincide. */
const spreadMs = 10_000
const endpointingMs = 500
const retryMs = 500
const goals = { ownP95Ms: 40, bargeInP95Ms: 120, firstWordsP95Ms: 300 }
const leakRounds = 10
/** The first rounds fill caches and the collector's heaps. */
const settledRounds = 5
const leakSeconds = 12

const main = async (): Promise<void> => {
  const stage = await openStage()
  try {
    if (process.argv[2] === 'leak') await findLeaks(stage, Number(process.argv[3] ?? 500))
    else await measureAll(stage)
  } finally {
    await stage.close()
  }
}

const measureAll = async (stage: Stage): Promise<void> => {
  // Compiled code and cached clips, as in a process that has run for a minute.
  await measure(stage, 2, 10)
  const counts = process.argv[2]?.split(',').map(Number) ?? defaultCalls
  const seconds = Number(process.argv[3] ?? defaultSeconds)
  console.log(
    'calls  turns    own p50/p95   turn-500 p50/p95   barge-in p50/p95   first words p50/p95   CPU ms/s/call   callee+model   MB/call   tick p99',
  )
  for (const calls of counts) console.log(lineOf(calls, await measure(stage, calls, seconds)))
  console.log(
    `goals          ${goals.ownP95Ms} ms p95                            ${goals.bargeInP95Ms} ms p95           ${goals.firstWordsP95Ms} ms p95   (milliseconds; "turn-500" is what the callee waits beyond the model's ${endpointingMs} ms of endpointing silence)`,
  )
}

interface Round {
  readonly ownMs: number[]
  readonly callee: CalleeFigures
  readonly failed: number
  /** Of this process: all work of the product for a call, and the system's. */
  readonly cpuMsPerSecond: number
  /** Of the peers' process, which shares the machine: a callee, and the scripted model. */
  readonly peerCpuMsPerSecond: number
  readonly bytesPerCall: number
  readonly latenessP99Ms: number
}

const measure = async (stage: Stage, calls: number, seconds: number): Promise<Round> => {
  await stage.figures()
  const idleBytes = process.memoryUsage().rss
  const ending = new AbortController()
  const finished: FinishedCall[] = []
  const running = Array.from({ length: calls }, async (_, index) => {
    await delay((index * spreadMs) / calls)
    await stage.call(finished, ending.signal)
  })
  await delay(spreadMs + 2_000)
  const before = { ...process.cpuUsage(), peers: await stage.peerCpuMs(), at: performance.now() }
  await delay(seconds * 500)
  const bytes = process.memoryUsage().rss
  await delay(seconds * 500)
  const { user, system } = process.cpuUsage(before)
  const peersMs = (await stage.peerCpuMs()) - before.peers
  const elapsedMs = performance.now() - before.at
  const latenessP99Ms = stage.media.load().latenessP99Ms
  ending.abort(new CallStop('cancel_requested'))
  await Promise.all(running)
  const answered = finished.flatMap((call) => call.answered ?? [])
  return {
    ownMs: answered.flatMap(
      ({ measured }) => measured?.timing.latencies.map(({ ownMs }) => ownMs) ?? [],
    ),
    callee: await stage.figures(),
    failed: calls - answered.length,
    cpuMsPerSecond: (user + system) / elapsedMs / calls,
    peerCpuMsPerSecond: (peersMs * 1000) / elapsedMs / calls,
    bytesPerCall: (bytes - idleBytes) / calls,
    latenessP99Ms,
  }
}

const lineOf = (calls: number, round: Round): string => {
  const { callee } = round
  const beyond = callee.turnMs.map((ms) => ms - endpointingMs)
  const pair = (values: readonly number[]): string =>
    `${quantile(values, 0.5).toFixed(0)}/${quantile(values, 0.95).toFixed(0)}`
  return [
    String(calls).padStart(5),
    String(callee.turnMs.length).padStart(6),
    pair(round.ownMs).padStart(14),
    pair(beyond).padStart(18),
    pair(callee.bargeInMs).padStart(18),
    pair(callee.firstWordsMs).padStart(21),
    round.cpuMsPerSecond.toFixed(1).padStart(15),
    round.peerCpuMsPerSecond.toFixed(1).padStart(14),
    (round.bytesPerCall / 1e6).toFixed(2).padStart(9),
    `${round.latenessP99Ms.toFixed(1)} ms`.padStart(10),
    round.failed > 0 ? `  ${round.failed} never admitted` : '',
  ].join(' ')
}

/** Many conversations one after the other: a leak shows as memory that grows from round to round. */
const findLeaks = async (stage: Stage, conversations: number): Promise<void> => {
  const perRound = Math.ceil(conversations / leakRounds)
  const sizes: number[] = []
  console.log('round  conversations  RSS MB')
  for (let round = 1; round <= leakRounds; round += 1) {
    const ending = new AbortController()
    const finished: FinishedCall[] = []
    const running = Array.from({ length: perRound }, async (_, index) => {
      await delay((index * spreadMs) / perRound)
      await stage.call(finished, ending.signal)
    })
    await delay(spreadMs + leakSeconds * 1000)
    ending.abort(new CallStop('cancel_requested'))
    await Promise.all(running)
    // The collector returns a finished call's memory in its own time.
    await delay(3_000)
    globalThis.gc?.()
    sizes.push(process.memoryUsage().rss / 1e6)
    console.log(
      `${String(round).padStart(5)}  ${String(finished.length).padStart(13)}  ${sizes.at(-1)?.toFixed(0)}`,
    )
  }
  const growth = (sizes.at(-1) ?? 0) - (sizes[settledRounds - 1] ?? 0)
  const perConversation = (growth * 1000) / (perRound * (leakRounds - settledRounds))
  console.log(
    `growth over the last ${settledRounds} rounds: ${perConversation.toFixed(1)} kB per conversation`,
  )
}

const quantile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}

interface Stage {
  readonly media: MediaWorkerPool
  /** Runs one call until the signal aborts or the callee ends it. */
  call(finished: FinishedCall[], signal: AbortSignal): Promise<void>
  /** The callees' measurements since the last read. */
  figures(): Promise<CalleeFigures>
  /** Since the peers were started, callees and model together. */
  peerCpuMs(): Promise<number>
  close(): Promise<void>
}

const openStage = async (): Promise<Stage> => {
  const peers = fork(join(import.meta.dirname, 'conversation/peers.ts'))
  const { sipPort, modelUrl } = await answerOf<{ sipPort: number; modelUrl: string }>(peers)
  const spoolFolder = await mkdtemp(join(tmpdir(), 'outdial-bench-'))
  const userAgent = createUserAgent({ sources: anySource, bindAddress: '127.0.0.1', logger })
  const media = new MediaWorkerPool({
    workers: 1,
    channelsPerWorker: 1_000,
    socket: { bindAddress: '127.0.0.1', portRange: { min: 30_000, max: 39_998 } },
    logger,
  })
  await Promise.all([userAgent.start(), media.start()])
  const carrier = createSipCarrier({
    userAgent,
    trunk: parseTrunkUri(`sip:127.0.0.1:${sipPort}`),
    sendsCallId: true,
    logger,
  })
  const runWith = (ledger: CallLedger): RunCall =>
    createRunCall({
      carrier,
      media,
      ledger,
      loadPlan: async () => ({ plan: planFor(modelUrl) }),
      ringTimeoutMs: 20_000,
      maxHoldMs: 300_000,
      spoolFolder,
      clock: systemTime,
      logger,
    })
  return {
    media,
    async call(finished, signal) {
      // A node with late ticks takes no more calls for a while; the queue would offer them again.
      while (!signal.aborted) {
        const attempt = ledgerInto(finished)
        await runWith(attempt)(someCall(), signal)
        if (attempt.isRequeued()) await delay(retryMs)
        else return
      }
    },
    async figures() {
      peers.send('figures')
      return (await answerOf<{ figures: CalleeFigures }>(peers)).figures
    },
    async peerCpuMs() {
      peers.send('cpu')
      const { cpuMs } = await answerOf<{ cpuMs: number }>(peers)
      return cpuMs
    },
    async close() {
      await Promise.all([userAgent.stop(), media.stop()])
      peers.send('stop')
      await rm(spoolFolder, { recursive: true })
    },
  }
}

const answerOf = async <T>(peers: ChildProcess): Promise<T> => {
  const [message] = (await once(peers, 'message')) as [T]
  return message
}

const ledgerInto = (finished: FinishedCall[]): CallLedger & { isRequeued(): boolean } => {
  let isRequeued = false
  return {
    markConnected: async () => true,
    requeue: async () => {
      isRequeued = true
      return true
    },
    note: async () => true,
    saveTrace: async () => {},
    appendTurn: async () => {},
    finish: async (_call, call) => {
      finished.push(call)
      return true
    },
    isRequeued: () => isRequeued,
  }
}

const someCall = (): DialableCall => ({
  organizationId: 'bench' as OrganizationId,
  callId: newId(),
  contactId: 'bench',
  agentId: 'bench',
  agentVersion: 1,
  phoneNumber: '+12025550100',
  leaseToken: newId(),
  origin: 'api',
  route: 'sandbox',
  attempt: 1,
  mayInvite: () => true,
})

const outcomes = ['achieved', 'inconclusive'] as const
const wireFormat = process.argv.includes('pcm') ? pcmWire(24_000, 24_000) : g711Wire

const planFor = (modelUrl: string): CallPlan => ({
  organizationId: '00000000-0000-4000-8000-000000000001' as OrganizationId,
  engine: { kind: 'realtime', url: modelUrl, wireFormat },
  callerId: '+12025550199',
  isRecorded: true,
  session: {
    instructions:
      'If asked about parking, say "There is a garage right next door, which is open day and night, and the first two hours are free for everybody who comes to see us; just take the ticket with you. If it should be full there is another one around the corner."',
    greeting: 'Hello, this is Riverside Dental.',
    language: 'en-US',
    tools: builtInTools(outcomes),
  },
  maxDurationMs: 600_000,
  voicemail: 'hang_up',
  outcomes,
  httpTools: [],
  allowPrivateNetwork: false,
})

await main()
