/** Changes the sample rate of a stream, chunk by chunk; it keeps a few milliseconds of state. */
export interface Resampler {
  /** The output for these samples. Chunks may have any length. */
  readonly process: (samples: Int16Array) => Int16Array
  /** The tail that the filter still holds; with it the output lasts as long as the input. Resets the state. */
  flush(): Int16Array
}

/** Flat to 3 kHz within half a decibel, and 80 dB down where it would alias into the telephone band. */
const cutoffHz = 3_700
/** The reach of the filter on either side of a sample. */
const reachSeconds = 31 / 24_000
const highestRateHz = 48_000
/**
 * 44.1 kHz and its halves relate to 8 kHz as 441 to 80, 160 and 320; odder rates would need thousands of filters.
 */
const maxRatioTerm = 441
/** Filters cached for the next stream, at most 80 kB each; a server could name a thousand rates. */
const maxBanks = 16

/**
 * From or to 8 kHz: 11.025, 12, 16, 22.05, 24, 32, 44.1 and 48 kHz, and other rates up to 48 kHz with similar
 * ratios; equal rates copy. Throws RangeError otherwise. The filter's delay is removed: sample n of the input keeps
 * its time in the output.
 */
export const createResampler = (fromHz: number, toHz: number): Resampler => {
  if (fromHz === toHz)
    return { process: (samples) => samples.slice(), flush: () => new Int16Array(0) }
  const bank = filterBank(fromHz, toHz)
  if (bank === undefined) throw new RangeError(`No resampling from ${fromHz} to ${toHz} Hz.`)
  return createPolyphaseResampler(bank)
}

/** One whole clip at another rate. */
export const resample = (samples: Int16Array, fromHz: number, toHz: number): Int16Array => {
  const resampler = createResampler(fromHz, toHz)
  const head = resampler.process(samples)
  const tail = resampler.flush()
  const whole = new Int16Array(head.length + tail.length)
  whole.set(head)
  whole.set(tail, head.length)
  return whole
}

/** The filter at every position that an output sample can have between two input samples. */
interface FilterBank {
  /** Output sample n lies at n × step / phases.length of the input. */
  readonly step: number
  /** Input samples before the position that its filter needs. */
  readonly before: number
  readonly phases: readonly Float64Array[]
}

const banks = new Map<string, FilterBank>()

const filterBank = (fromHz: number, toHz: number): FilterBank | undefined => {
  const isServed =
    Number.isInteger(fromHz) &&
    Number.isInteger(toHz) &&
    Math.min(fromHz, toHz) === 8000 &&
    Math.max(fromHz, toHz) <= highestRateHz
  if (!isServed) return undefined
  const divisor = greatestCommonDivisor(fromHz, toHz)
  const count = toHz / divisor
  const step = fromHz / divisor
  if (Math.max(count, step) > maxRatioTerm) return undefined
  const key = `${fromHz}-${toHz}`
  const known = banks.get(key)
  if (known !== undefined) return known
  const before = Math.floor(reachSeconds * fromHz)
  const phases = Array.from({ length: count }, (_, i) => lowPass(fromHz, before, i / count))
  const bank = { step, before, phases }
  if (banks.size >= maxBanks) banks.delete(banks.keys().next().value!)
  banks.set(key, bank)
  return bank
}

/**
 * Low-pass filter: a Blackman-windowed sinc of unit gain, around a position `offset` samples after the one at
 * `before`.
 */
const lowPass = (rateHz: number, before: number, offset: number): Float64Array => {
  const cutoff = (2 * cutoffHz) / rateHz
  const reach = reachSeconds * rateHz
  const raw = Float64Array.from({ length: 2 * before + 2 }, (_, i) => {
    const distance = i - before - offset
    if (Math.abs(distance) > reach) return 0
    const x = cutoff * distance
    const sinc = x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)
    const turn = (Math.PI * distance) / reach
    return sinc * (0.42 + 0.5 * Math.cos(turn) + 0.08 * Math.cos(2 * turn))
  })
  const sum = raw.reduce((total, tap) => total + tap, 0)
  return raw.map((tap) => tap / sum)
}

const createPolyphaseResampler = ({ step, before, phases }: FilterBank): Resampler => {
  const taps = 2 * before + 2
  let pending = new Int16Array(before)
  /** The position of the next output sample: an input sample of `pending` and a phase after it. */
  let at = 0
  let phase = 0
  let inputSamples = 0
  let outputSamples = 0

  const process = (samples: Int16Array): Int16Array => {
    const input = join(pending, samples)
    const room = Math.ceil(((input.length + 1) * phases.length) / step)
    const out = new Int16Array(room)
    let count = 0
    while (at + taps <= input.length) {
      out[count++] = clamp(convolve(phases[phase]!, input, at))
      phase += step
      at += Math.floor(phase / phases.length)
      phase %= phases.length
    }
    const used = Math.min(at, input.length)
    pending = input.slice(used)
    at -= used
    inputSamples += samples.length
    outputSamples += count
    return out.subarray(0, count)
  }

  return {
    process,
    flush() {
      const wanted = Math.ceil((inputSamples * phases.length) / step) - outputSamples
      const tail = process(new Int16Array(taps)).subarray(0, wanted)
      pending = new Int16Array(before)
      at = 0
      phase = 0
      inputSamples = 0
      outputSamples = 0
      return tail
    },
  }
}

const convolve = (filter: Float64Array, input: Int16Array, at: number): number => {
  let sum = 0
  for (let i = 0; i < filter.length; i++) sum += filter[i]! * input[at + i]!
  return sum
}

const greatestCommonDivisor = (a: number, b: number): number =>
  b === 0 ? a : greatestCommonDivisor(b, a % b)

const join = (head: Int16Array, tail: Int16Array): Int16Array => {
  const joined = new Int16Array(head.length + tail.length)
  joined.set(head)
  joined.set(tail, head.length)
  return joined
}

const clamp = (value: number): number => Math.max(-32_768, Math.min(32_767, Math.round(value)))
