import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { median, row } from './figures.ts'
import type { Connection } from './stand.ts'

/** The same work by other queues over PostgreSQL: one server, fresh processes, alternating. */

const contestants = ['outdial', 'pg-boss', 'graphile-worker', 'graphile-batched'] as const
const rounds = 3
const widths = [18, 12, 12, 16]

/** Jobs per second. */
export interface ContestFigures {
  /** Added one by one, 32 at a time. */
  readonly enqueued: number
  /** Claimed fifty at a time by four dispatchers. Absent: it claims only to run. */
  readonly claimed?: number
  /** Claimed, and finished one by one. */
  readonly worked: number
}

type Contestant = (typeof contestants)[number]

export const runContest = async (
  server: Connection,
): Promise<Record<Contestant, ContestFigures>> => {
  const results = new Map<Contestant, ContestFigures[]>(contestants.map((name) => [name, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < contestants.length; turn += 1) {
      const name = contestants[(turn + round) % contestants.length] ?? 'outdial'
      results.get(name)?.push(await runContestant(name, server))
    }
  }
  console.log(`\n${row(['jobs per second', 'enqueued', 'claimed', 'claimed, ended'], widths)}`)
  const figures = contestants.map((name) => {
    const own = middleOf(results.get(name) ?? [])
    const claimed = own.claimed === undefined ? '-' : own.claimed
    console.log(row([name, own.enqueued, claimed, own.worked], widths))
    return [name, own] as const
  })
  return Object.fromEntries(figures) as Record<Contestant, ContestFigures>
}

const runContestant = async (name: Contestant, server: Connection): Promise<ContestFigures> => {
  const [file, ...more] = name.startsWith('graphile') ? ['graphile-worker', name] : [name]
  const script = join(import.meta.dirname, 'contestants', `${file}.ts`)
  const child = spawn(process.execPath, [script, JSON.stringify(server), ...more], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await once(child, 'close')
  if (child.exitCode !== 0) throw new Error(`${name} ended with ${child.exitCode}`)
  return JSON.parse(output.trim().split('\n').at(-1) ?? '') as ContestFigures
}

const middleOf = (results: readonly ContestFigures[]): ContestFigures => {
  const claimed = results.flatMap((one) => one.claimed ?? [])
  return {
    enqueued: median(results.map((one) => one.enqueued)),
    worked: median(results.map((one) => one.worked)),
    ...(claimed.length > 0 && { claimed: median(claimed) }),
  }
}
