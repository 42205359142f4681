import { write } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { openDatabase } from '../../database/open-database.ts'
import { createSilenceWatch } from '../../runtime/silence-watch.ts'
import { createThreadLogger } from '../../runtime/thread-logger.ts'
import type { FromLeaseKeeper, LeaseKeeperData, ToLeaseKeeper } from './lease-keeper-protocol.ts'
import { heldMs, renewIntervalMs, renewLease } from './lease.ts'
import { repeat, type Repeating } from '../../runtime/repeating.ts'
import { systemTime } from '../../runtime/time.ts'

/** A slower renewal is repeated on another connection. */
const statementTimeoutMs = 2_000
/** Time limit for the last log line of a process that ends itself. */
const lastLineMs = 500

const { connection, mainTurns, stallLimitMs } = workerData as LeaseKeeperData
const post = (message: FromLeaseKeeper): void => parentPort?.postMessage(message)
const logger = createThreadLogger(post)
const database = openDatabase({ connection, logger, maxConnections: 1, statementTimeoutMs })

let kept: Extract<ToLeaseKeeper, { type: 'keep' }> | undefined
let renewing: Repeating | undefined

const renew = async (): Promise<void> => {
  const lease = kept
  if (lease === undefined) return
  const sentAt = process.hrtime.bigint()
  const isOurs = await renewLease(database, lease.nodeId)
  const heldUntil = isOurs ? sentAt + BigInt(heldMs) * 1_000_000n : 0n
  Atomics.store(new BigInt64Array(lease.heldUntil), 0, heldUntil)
  // Declared dead: the main thread hangs up, and continues as another node.
  if (!isOurs && kept === lease) {
    kept = undefined
    post({ type: 'lost' })
  }
}

const turns = new Int32Array(mainTurns)
const silence = createSilenceWatch(stallLimitMs, performance.now())
let lastTurn = Atomics.load(turns, 0)
const watch = setInterval(() => {
  const turn = Atomics.load(turns, 0)
  if (turn !== lastTurn) silence.heard()
  lastTurn = turn
  if (silence.tick(performance.now())) endProcess()
}, silence.tickMs)

/** SIGKILL, because nothing else ends a process whose main thread hangs; its media threads end with it. */
const endProcess = (): void => {
  clearInterval(watch)
  const line = {
    level: 'error',
    time: new Date().toISOString(),
    stall_limit_ms: stallLimitMs,
    msg: 'the main thread hangs: this process ends itself, so that other nodes settle its calls',
  }
  const kill = (): void => void process.kill(process.pid, 'SIGKILL')
  // The main thread no longer writes the log, and a full pipe must not keep the process alive.
  write(2, `${JSON.stringify(line)}\n`, kill)
  setTimeout(kill, lastLineMs)
}

const stop = async (): Promise<void> => {
  clearInterval(watch)
  kept = undefined
  await renewing?.stop()
  await database.stop().catch(() => undefined)
  parentPort?.close()
}

parentPort?.on('message', (message: ToLeaseKeeper) => {
  if (message.type === 'stop') return void stop()
  kept = message
  renewing ??= repeat({
    name: 'lease thread',
    intervalMs: renewIntervalMs,
    work: renew,
    time: systemTime,
    logger,
  })
  renewing.wake()
})
