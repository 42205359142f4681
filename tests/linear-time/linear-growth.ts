import { createContext, Script } from 'node:vm'
import { hostileTextsOf, writeHostileText, type HostileText } from './hostile-text.ts'

/** The behaviour of an expression on a hostile text. */
export interface Slowness {
  readonly text: HostileText
  /** Ratio of the times for 64k and 1k characters; Infinity if cut off. */
  readonly growth: number
}

const smallLength = 1_024
const firstLength = 8 * smallLength
const largeLength = 64 * smallLength

/**
 * Linear work takes 64 times as long for 64 times the text, quadratic work 4096 times. The limit between them
 * allows for a cold cache, a garbage collection and other work on the same core.
 */
export const largestLinearGrowth = 512
/**
 * Below this the clock dominates; 512 times as much is 26 ms, and quadratic work on 64k characters takes seconds.
 */
const leastMs = 0.05
/** If 8k characters were this fast, nothing is quadratic: that would be 30 million steps. */
const suspiciousMs = 1
const repeats = 3
/** A run is cut off here, because some never end. Linear ones take a few milliseconds. */
const patienceMs = 500

/** The text for which the expression takes more than linear time; `undefined` if there is none. */
export const findSlowText = (expression: RegExp): Slowness | undefined => {
  const everywhere = new RegExp(expression.source, withGlobal(expression.flags))
  for (const text of hostileTextsOf(expression)) {
    const work = (length: number): (() => void) => {
      const whole = flat(writeHostileText(text, length))
      return () => void whole.replace(everywhere, '')
    }
    const firstMs = leastCpuMs(work(firstLength), suspiciousMs)
    if (firstMs < suspiciousMs) continue
    const growth = firstMs === Infinity ? Infinity : growthOf(work)
    if (growth > largestLinearGrowth) return { text, growth }
  }
  return undefined
}

/** Ratio of the times for 64k and 1k. `work` prepares a run on a given length. */
export const growthOf = (work: (length: number) => () => void): number => {
  const smallMs = Math.max(leastCpuMs(work(smallLength)), leastMs)
  return leastCpuMs(work(largeLength), smallMs * largestLinearGrowth) / smallMs
}

// All matches in the text, as in `replace`, `split` and `matchAll`: each search may begin anywhere.
const withGlobal = (flags: string): string => (flags.includes('g') ? flags : `${flags}g`)

/** A concatenated string stays a tree until it is read: reading it once keeps that out of the measurement. */
const flat = (text: string): string => {
  text.charCodeAt(text.length - 1)
  return text
}

/** The shortest of a few runs, which end with the first that is short enough. */
const leastCpuMs = (run: () => void, shortEnoughMs = 0): number => {
  let least = Infinity
  for (let time = 0; time < repeats && least >= shortEnoughMs; time += 1)
    least = Math.min(least, cpuMs(run))
  return least
}

const stage: { run: () => void } = { run: () => undefined }
const context = createContext({ stage })
const script = new Script('stage.run()')

/** Processor time, which other work does not increase; Infinity if the run was cut off. */
const cpuMs = (run: () => void): number => {
  stage.run = run
  const before = process.threadCpuUsage()
  try {
    script.runInContext(context, { timeout: patienceMs })
  } catch (error) {
    if (isTimeout(error)) return Infinity
    throw error
  }
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
