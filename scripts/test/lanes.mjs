import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './child.mjs'

/** How a test file shares the machine, from a comment in its first lines. Without one it is a working file. */
const aloneLine = /^\/\/ Runs alone: \S/
const waitingLine = /^\/\/ Runs beside (others|few others): it waits for most of its (\d+) s\b/
const anyLine = /^\/\/ Runs /
const firstLines = 5

/** Weight among the waiting files: many calls at once, or processes that restart repeatedly, count double. */
const weights = { others: 1, 'few others': 2 }

/** Keeps a processor busy until it is done. */
export const working = { lane: 'works', seconds: 0, weight: 1 }

/** `waits` comes with its seconds on an idle machine, so that the longest begin first. */
export const mannerOf = (file) => {
  const lines = readFileSync(join(root, file), 'utf8').split('\n', firstLines)
  const said = lines.find((line) => anyLine.test(line))
  if (said === undefined) return working
  if (aloneLine.test(said)) return { lane: 'alone', seconds: 0, weight: 1 }
  const [, beside, seconds] = waitingLine.exec(said) ?? []
  if (beside === undefined) throw new Error(`${file} does not say how it runs: ${said}`)
  return { lane: 'waits', seconds: Number(seconds), weight: weights[beside] }
}

/**
 * Calls wait for speech, leases and pauses; a file with one of them takes less than half a processor, so 2 is the
 * aim. One file at a time on two processors until three whole runs in a row have passed with more.
 */
const roomPerProcessor = 2
const maxRoom = 12
/** Working files wait for the disk or the database a third of their time. */
const maxWorking = (processors) => Math.max(2, Math.min(8, processors)) + 1

/**
 * Runs tasks, `{ lane, weight, work }`, in the given order: waiting ones, which hold calls with audio every 20 ms,
 * and beside them working ones, which yield the processors to them; then each that runs alone.
 */
export const runInLanes = async (tasks, processors) => {
  const tasksOf = (lane) => tasks.filter((task) => task.lane === lane)
  const waits = tasksOf('waits')
  const room = Math.max(1, Math.min(maxRoom, roomPerProcessor * processors))
  let isWaiting = waits.length > 0
  const waiting = runTogether(waits, () => room).finally(() => (isWaiting = false))
  const working = runTogether(tasksOf('works'), () =>
    isWaiting ? processors : maxWorking(processors),
  )
  await Promise.all([waiting, working])
  await runTogether(tasksOf('alone'), () => 1)
}

/** As many at a time as their weights allow. */
const runTogether = async (tasks, roomNow) => {
  const queue = [...tasks]
  const running = new Set()
  let taken = 0
  const begin = (task) => {
    queue.splice(queue.indexOf(task), 1)
    taken += task.weight
    const done = task.work().finally(() => {
      running.delete(done)
      taken -= task.weight
    })
    running.add(done)
  }
  while (queue.length + running.size > 0) {
    // A task too heavy for the remaining room lets a lighter one pass; with all the room it gets its turn.
    const next = queue.find(({ weight }) => taken + weight <= roomNow() || taken === 0)
    if (next) begin(next)
    else await Promise.race(running)
  }
}
