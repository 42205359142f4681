import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createRandom, type Random } from './random.ts'

/** Readers of peer input under mutated and random bytes. */
export interface ByteFuzz {
  readonly name: string
  /** Well-formed inputs that mutations begin with, and words that the readers look for. */
  readonly seeds: readonly Buffer[]
  readonly words: readonly string[]
  /** Must neither throw nor be slow, whatever the bytes are. */
  readonly read: (bytes: Buffer) => void
}

export interface ByteFuzzReport {
  readonly inputs: number
  /** Inputs that threw, with the error: at most `maxFaults` are kept. */
  readonly thrown: readonly string[]
  readonly slow: readonly string[]
  readonly slowestMs: number
  /** How much what survives collection grew from the first tenth to the end. */
  readonly grownBytes: number
}

const slowMs = 20
const maxFaults = 10
const maxBytes = 9_000
/** An input that seems slow is read again: garbage may have been collected meanwhile. */
const timesToBeSure = 3
const collectEvery = 10_000

export const fuzzBytes = (fuzz: ByteFuzz, inputs: number, seed: number): ByteFuzzReport => {
  const random = createRandom(seed)
  const thrown: string[] = []
  const slow: string[] = []
  let slowestMs = 0
  let firstHeap = Infinity
  let lastHeap = Infinity
  for (let done = 0; done < inputs; done += 1) {
    const bytes = mutate(fuzz, random)
    try {
      const tookMs = timeOf(fuzz, bytes)
      slowestMs = Math.max(slowestMs, tookMs)
      if (tookMs > slowMs && slow.length < maxFaults)
        slow.push(`${tookMs.toFixed(1)} ms: ${described(bytes)}`)
    } catch (error) {
      if (thrown.length < maxFaults) thrown.push(`${String(error)}: ${described(bytes)}`)
    }
    if (done % 1000 !== 0) continue
    // The lowest of a tenth of the run is what survives collection.
    const heapUsed = done % collectEvery === 0 ? usedAfterCollection() : Infinity
    if (done < inputs / 10) firstHeap = Math.min(firstHeap, heapUsed)
    if (done > (inputs * 9) / 10) lastHeap = Math.min(lastHeap, heapUsed)
  }
  const grownBytes = Number.isFinite(lastHeap) ? Math.max(0, lastHeap - firstHeap) : 0
  return { inputs, thrown, slow, slowestMs, grownBytes }
}

const usedAfterCollection = (): number => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  return process.memoryUsage().heapUsed
}

/** The processor time of this thread, because on the clock a busy machine takes as long as it likes. */
const timeOf = ({ read }: ByteFuzz, bytes: Buffer): number => {
  let best = Infinity
  for (let times = 0; times < timesToBeSure; times += 1) {
    const started = process.threadCpuUsage()
    read(bytes)
    const { user, system } = process.threadCpuUsage(started)
    best = Math.min(best, (user + system) / 1000)
    if (best <= slowMs) break
  }
  return best
}

const described = (bytes: Buffer): string => JSON.stringify(bytes.toString('latin1').slice(0, 400))

const mutate = ({ seeds, words }: ByteFuzz, random: Random): Buffer => {
  let bytes: Buffer = Buffer.from(random.pick(seeds))
  const changes = 1 + Math.floor(random.next() * 6)
  for (let change = 0; change < changes; change += 1)
    bytes = changed(bytes, words, seeds, random).subarray(0, maxBytes)
  return bytes
}

const changed = (
  bytes: Buffer,
  words: readonly string[],
  seeds: readonly Buffer[],
  random: Random,
): Buffer => {
  const at = Math.floor(random.next() * (bytes.length + 1))
  const length = Math.floor(random.next() ** 3 * 200)
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
  switch (Math.floor(random.next() * 7)) {
    case 0:
      return Buffer.concat([before, Buffer.from([Math.floor(random.next() * 256)]), after])
    case 1:
      return Buffer.concat([before, after.subarray(length)])
    case 2:
      return Buffer.concat([before, Buffer.from(random.pick(words)), after])
    case 3:
      return Buffer.concat([before, Buffer.from(random.pick(words).repeat(length)), after])
    case 4: {
      const other = random.pick(seeds)
      return Buffer.concat([before, other.subarray(Math.floor(random.next() * other.length))])
    }
    case 5: {
      const copy = Buffer.from(bytes)
      if (at < copy.length) copy[at] = (copy[at] ?? 0) ^ (1 << Math.floor(random.next() * 8))
      return copy
    }
    default:
      return Buffer.concat([before, after.subarray(0, length), after])
  }
}

/** `npm run fuzz NAME -- --inputs 1000000 --seed 1`. Exit status 1 if an input threw, was slow, or memory grew. */
export const runByteFuzz = (fuzz: ByteFuzz): void => {
  const { values } = parseArgs({
    options: {
      inputs: { type: 'string', default: '1000000' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    },
  })
  const [inputs, seed] = [Number(values.inputs), Number(values.seed)]
  const startedMs = performance.now()
  const { thrown, slow, slowestMs, grownBytes } = fuzzBytes(fuzz, inputs, seed)
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  for (const fault of [...thrown, ...slow]) console.error(fault)
  console.log(
    `fuzz ${fuzz.name}: ${inputs} inputs, seed ${seed}, ${seconds} s; ${thrown.length} threw (goal 0), ${slow.length} above ${slowMs} ms (goal 0), slowest ${slowestMs.toFixed(2)} ms, heap grew by ${(grownBytes / 2 ** 20).toFixed(1)} MiB (goal below ${maxGrownBytes / 2 ** 20})`,
  )
  if (thrown.length > 0 || slow.length > 0 || grownBytes > maxGrownBytes) process.exitCode = 1
}

const maxGrownBytes = 32 * 2 ** 20
