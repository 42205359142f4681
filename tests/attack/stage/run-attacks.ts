import type { Attack, Figures, Limits, Result } from './attack.ts'
import { openStage, type Stage } from './stage.ts'

/** The result of one attack. */
export interface Row extends Result {
  readonly name: string
  readonly goal: string
  readonly seconds: number
}

export interface RunOptions {
  readonly root: string
  readonly attacks: readonly Attack[]
  readonly limits: Limits
  readonly onRow?: (row: Row) => void
}

/** A timed failure is measured again before it counts. */
const tries = 3
/** A delay this long is no accident. */
const patienceMs = 45_000
const attackLimitMs = 10 * 60_000

/** Runs the attacks one after another on one running product, whose two live calls must survive them all. */
export const runAttacks = async (options: RunOptions): Promise<Row[]> => {
  const { root, attacks, limits, onRow } = options
  const stage = await openStage(root)
  const rows: Row[] = []
  try {
    for (const attack of attacks) {
      const row = await runAttack(stage, attack, limits)
      rows.push(row)
      onRow?.(row)
    }
  } finally {
    await stage.stop()
  }
  return rows
}

const runAttack = async (stage: Stage, attack: Attack, limits: Limits): Promise<Row> => {
  const startedMs = performance.now()
  let result = await runOnce(stage, attack, limits)
  const isWorthAnother = (): boolean =>
    result.problems.length > 0 && performance.now() - startedMs < patienceMs
  for (let turn = 1; attack.isTimed && turn < tries && isWorthAnother(); turn += 1) {
    const again = await runOnce(stage, attack, limits)
    if (again.problems.length < result.problems.length) result = again
  }
  const seconds = (performance.now() - startedMs) / 1_000
  return { name: attack.name, goal: attack.goal, seconds, ...result }
}

const runOnce = async (stage: Stage, attack: Attack, limits: Limits): Promise<Result> => {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error('it took too long')), attackLimitMs)
  const result = await Promise.race([attack.run(stage, limits), timeout]).catch(
    (error: unknown): Result => ({
      figure: 'it broke off',
      problems: [error instanceof Error ? error.message : String(error)],
    }),
  )
  clearTimeout(timer)
  return { ...result, problems: [...result.problems, ...(await stage.recover())] }
}

/** One line for a row, and one for each promise that was broken. */
export const describeRow = ({ name, figure, goal, problems, seconds }: Row): string =>
  [
    `${problems.length === 0 ? 'held  ' : 'BROKEN'}  ${name.padEnd(22)}  ${figure}  [${goal}]  ${seconds.toFixed(0)} s`,
    ...problems.map((problem) => `          - ${problem}`),
  ].join('\n')

/** The last line: how many promises were broken, and the largest figures of all attacks. */
export const describeRun = (rows: readonly Row[]): string => {
  const broken = rows.filter(({ problems }) => problems.length > 0).length
  const largest = (figure: keyof Figures): number =>
    Math.max(0, ...rows.map(({ figures }) => figures?.[figure] ?? 0))
  return [
    `attack: ${rows.length} attacks, ${broken} broken promises (goal 0)`,
    `slowest message ${largest('messageMs').toFixed(1)} ms`,
    `${largest('strangerBytes')} bytes to strangers`,
    `memory +${largest('memoryMb').toFixed(0)} MB`,
    `/healthz ${largest('healthzMs').toFixed(0)} ms`,
  ].join(', ')
}
