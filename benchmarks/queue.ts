/**
 * The queue: claims over growing backlogs, turns that find nothing, accepting calls, waking up, and the same work
 * by pg-boss and graphile-worker. PostgreSQL is the embedded one with fsync on; tables are analyzed. pg-boss is
 * installed by `npm ci --prefix benchmarks`. Usage: `npm run bench queue -- [largest backlog]
 * [claims|turns|crowded|enqueue|contest]...`.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '../src/database/embedded-postgres.ts'
import { callsPerClaim, measureClaims, measureHardTurns } from './queue/claims.ts'
import { runContest } from './queue/contest.ts'
import { measureCrowdedNumber } from './queue/crowded.ts'
import { measureEnqueue, measureWakeUp } from './queue/enqueue.ts'

const goals = { claimMs: 2, ratio: 1.5, againstBoss: 5, againstGraphile: 3 } as const

const readArguments = () => {
  const [first = '', ...rest] = process.argv.slice(2)
  const isNumber = /^\d+$/.test(first)
  const parts = isNumber ? rest : process.argv.slice(2)
  return {
    largest: isNumber ? Number(first) : 1_000_000,
    wants: (part: string) => parts.length === 0 || parts.includes(part),
  }
}

const main = async (): Promise<void> => {
  const { largest, wants } = readArguments()
  const folder = await mkdtemp(join(tmpdir(), 'outdial-bench-'))
  const server = await startEmbedded(folder)
  const lines: string[] = []
  try {
    const { connection } = server
    if (wants('claims')) {
      const { slowestMs, worstRatio } = await measureClaims(connection, largest)
      lines.push(
        `a claim of ${callsPerClaim} at ${largest} queued takes ${slowestMs.toFixed(2)} ms (p50, slowest shape; ` +
          `goal <= ${goals.claimMs}) and ${worstRatio.toFixed(2)} times that at 10000 (goal <= ${goals.ratio})`,
      )
    }
    if (wants('turns')) await measureHardTurns(connection)
    if (wants('crowded')) await measureCrowdedNumber(connection)
    if (wants('enqueue')) {
      await measureEnqueue(connection)
      await measureWakeUp(connection)
    }
    if (wants('contest')) {
      const figures = await runContest(connection)
      const ours = figures.outdial
      const claims = (ours.claimed ?? 0) / (figures['pg-boss'].claimed ?? Infinity)
      const graphile = (ours.claimed ?? 0) / figures['graphile-worker'].worked
      lines.push(
        `claims per second are ${claims.toFixed(1)} times those of pg-boss (goal >= ${goals.againstBoss}), ` +
          `and ${graphile.toFixed(1)} times those of graphile-worker, which cannot claim without ending (goal >= ${goals.againstGraphile})`,
      )
    }
    console.log(`\nqueue: ${lines.join('; ')}`)
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

await main()
