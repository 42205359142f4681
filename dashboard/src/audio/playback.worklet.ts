import { decodeMuLaw } from './mu-law.ts'

// Runs in the audio thread of the browser: plays lanes of G.711 that come in messages, each on a channel of its own.

const lineRate = 8_000
/** What is gathered before it plays, and the most that waits: a network's delays differ by less. */
const leastWaiting = lineRate * 0.2
const mostWaiting = lineRate * 0.8

/** One lane: a ring of samples, read at the rate of the sound card. */
class Lane {
  readonly #ring = new Float32Array(lineRate * 4)
  #written = 0
  #read = 0

  get waiting(): number {
    return this.#written - this.#read
  }

  write(bytes: Uint8Array): void {
    for (const byte of bytes) {
      this.#ring[this.#written % this.#ring.length] = decodeMuLaw(byte)
      this.#written += 1
    }
    // What comes too late is left out.
    if (this.waiting > mostWaiting) this.#read = this.#written - leastWaiting
  }

  fill(channel: Float32Array): void {
    const step = lineRate / sampleRate
    for (let index = 0; index < channel.length; index += 1) {
      if (this.waiting < 2) {
        channel[index] = 0
        continue
      }
      const whole = Math.floor(this.#read)
      const share = this.#read - whole
      const one = this.#ring[whole % this.#ring.length] ?? 0
      const next = this.#ring[(whole + 1) % this.#ring.length] ?? 0
      channel[index] = one + (next - one) * share
      this.#read += step
    }
  }
}

class Playback extends AudioWorkletProcessor {
  readonly #lanes = [new Lane(), new Lane()]
  #isPlaying = false

  constructor() {
    super()
    this.port.onmessage = ({ data }: MessageEvent<readonly Uint8Array[]>) => {
      data.forEach((bytes, lane) => this.#lanes[lane]?.write(bytes))
    }
  }

  process(_inputs: Float32Array[][], [output = []]: Float32Array[][]): boolean {
    const waiting = this.#lanes[0]?.waiting ?? 0
    if (!this.#isPlaying && waiting >= leastWaiting) this.#isPlaying = true
    if (this.#isPlaying && waiting < 2) this.#isPlaying = false
    if (this.#isPlaying)
      output.forEach((channel, index) => this.#lanes[Math.min(index, 1)]?.fill(channel))
    return true
  }
}

registerProcessor('playback', Playback)
