import { encodeMuLaw } from './mu-law.ts'

// Runs in the audio thread of the browser: the microphone as G.711 in messages of 40 ms.

const lineRate = 8_000
const messageSamples = 320

class Capture extends AudioWorkletProcessor {
  #message = new Uint8Array(messageSamples)
  #filled = 0
  /** What was gathered for the next sample of the line: the mean of what falls into it. */
  #sum = 0
  #count = 0
  #phase = 0

  process([input = []]: Float32Array[][]): boolean {
    const [channel] = input
    if (!channel) return true
    for (const sample of channel) {
      this.#sum += sample
      this.#count += 1
      this.#phase += lineRate
      if (this.#phase < sampleRate) continue
      this.#phase -= sampleRate
      this.#add(this.#sum / this.#count)
      this.#sum = 0
      this.#count = 0
    }
    return true
  }

  #add(sample: number): void {
    this.#message[this.#filled] = encodeMuLaw(sample)
    this.#filled += 1
    if (this.#filled < messageSamples) return
    this.port.postMessage(this.#message)
    this.#message = new Uint8Array(messageSamples)
    this.#filled = 0
  }
}

registerProcessor('capture', Capture)
