/** Changes the sample rate of a stream, chunk by chunk; it keeps 63 samples of state in between. */
export interface Resampler {
  /** What these samples add to the output. Chunks may have any length. */
  readonly process: (samples: Int16Array) => Int16Array
  /** The tail still held back by the filter: with it the output is as long as the input, in time. Starts over. */
  flush(): Int16Array
}

const taps = 63
/** Flat to 3 kHz within half a decibel, and 80 dB down where it would fold back into the telephone band. */
const cutoffHz = 3_700
const halfTaps = (taps - 1) / 2

/**
 * From or to 8 kHz by a whole factor: 24 → 8, 16 → 8, 8 → 24, 8 → 16; equal rates copy. Throws RangeError otherwise.
 * The filter's delay is taken out: sample n of the input lies at its own time in the output.
 */
export const createResampler = (fromHz: number, toHz: number): Resampler => {
  if (fromHz === toHz)
    return { process: (samples) => samples.slice(), flush: () => new Int16Array(0) }
  const factor = Math.max(fromHz, toHz) / Math.min(fromHz, toHz)
  if (!Number.isInteger(factor) || Math.min(fromHz, toHz) !== 8000) {
    throw new RangeError(`No resampling from ${fromHz} to ${toHz} Hz.`)
  }
  return fromHz > toHz ? createDecimator(factor, fromHz) : createInterpolator(factor, toHz)
}

/** Streaming resamplers by name, as plain functions; for one whole clip see `resample`. */
export const createResampler24To8 = (): Resampler['process'] =>
  createResampler(24_000, 8000).process
export const createResampler16To8 = (): Resampler['process'] =>
  createResampler(16_000, 8000).process
export const createResampler8To24 = (): Resampler['process'] =>
  createResampler(8000, 24_000).process

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

/** Low pass by a Blackman-windowed sinc of unit gain. */
const lowPass = (rateHz: number): Float64Array => {
  const cutoff = cutoffHz / rateHz
  const raw = Float64Array.from({ length: taps }, (_, i) => {
    const x = i - halfTaps
    const sinc = x === 0 ? 2 * cutoff : Math.sin(2 * Math.PI * cutoff * x) / (Math.PI * x)
    const turn = (2 * Math.PI * i) / (taps - 1)
    return sinc * (0.42 - 0.5 * Math.cos(turn) + 0.08 * Math.cos(2 * turn))
  })
  const sum = raw.reduce((total, tap) => total + tap, 0)
  return raw.map((tap) => tap / sum)
}

/** Filters, and computes only every `factor`-th sample. */
const createDecimator = (factor: number, rateHz: number): Resampler => {
  const filter = lowPass(rateHz)
  let pending = new Int16Array(halfTaps)
  let inputSamples = 0
  let outputSamples = 0

  const process = (samples: Int16Array): Int16Array => {
    const input = join(pending, samples)
    const out: number[] = []
    let at = 0
    for (; at + taps <= input.length; at += factor) out.push(convolve(filter, input, at))
    pending = input.slice(at)
    inputSamples += samples.length
    outputSamples += out.length
    return Int16Array.from(out, clamp)
  }

  return {
    process,
    flush() {
      const wanted = Math.ceil(inputSamples / factor) - outputSamples
      const tail = process(new Int16Array(halfTaps + factor)).subarray(0, wanted)
      pending = new Int16Array(halfTaps)
      inputSamples = 0
      outputSamples = 0
      return tail
    },
  }
}

/** Puts zeroes between samples and filters them away, without ever multiplying by one of them. */
const createInterpolator = (factor: number, rateHz: number): Resampler => {
  const filter = lowPass(rateHz).map((tap) => tap * factor)
  /** Input samples one output sample is made of. */
  const reach = Math.ceil(taps / factor)
  const lead = Math.ceil(halfTaps / factor)
  let pending = new Int16Array(reach - 1)
  /** Output samples that lie before the first input sample. */
  let skip = halfTaps

  const process = (samples: Int16Array): Int16Array => {
    const input = join(pending, samples)
    const out: number[] = []
    for (let newest = reach - 1; newest < input.length; newest++) {
      for (let phase = 0; phase < factor; phase++) {
        if (skip > 0) skip--
        else out.push(interpolate(filter, input, newest, phase, factor))
      }
    }
    pending = input.slice(input.length - (reach - 1))
    return Int16Array.from(out, clamp)
  }

  return {
    process,
    flush() {
      const tail = process(new Int16Array(lead))
      // The delay is no whole number of input samples: the last few come from beyond the end.
      const excess = lead * factor - halfTaps
      pending = new Int16Array(reach - 1)
      skip = halfTaps
      return tail.subarray(0, tail.length - excess)
    },
  }
}

const convolve = (filter: Float64Array, input: Int16Array, at: number): number => {
  let sum = 0
  for (let i = 0; i < taps; i++) sum += filter[i]! * input[at + i]!
  return sum
}

const interpolate = (
  filter: Float64Array,
  input: Int16Array,
  newest: number,
  phase: number,
  factor: number,
): number => {
  let sum = 0
  for (let tap = phase, at = newest; tap < taps; tap += factor, at--)
    sum += filter[tap]! * input[at]!
  return sum
}

const join = (head: Int16Array, tail: Int16Array): Int16Array => {
  const joined = new Int16Array(head.length + tail.length)
  joined.set(head)
  joined.set(tail, head.length)
  return joined
}

const clamp = (value: number): number => Math.max(-32_768, Math.min(32_767, Math.round(value)))
