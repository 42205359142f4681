import { decodeG711 } from '../../../../src/audio/g711.ts'
import type { Peer } from './scripted-provider.ts'

/** What a scripted transcriber understands, and how fast. */
export interface EarScript {
  /** The words of each stretch of speech; a silence of `gapMs` ends a stretch. */
  readonly stretches: readonly string[]
  readonly gapMs?: number
  /** One word is heard in this time of speech. */
  readonly wordMs?: number
  /** How long words lag behind the sound. */
  readonly lagMs?: number
  /** How long the final words take once they are asked for. */
  readonly finalMs?: number
}

interface EarListener {
  /** The words so far of the stretch, which may still change. */
  onPartial(text: string): void
  /** The callee seems to have finished, or goes on after all. */
  onPause?(): void
  onResumed?(): void
}

const sliceBytes = 160
const speechRms = 300
const pauseMs = 140

/** The ear of all scripted transcribers: it hears loudness only, and knows the words from its script. */
export class ScriptedEar {
  readonly #script: Required<EarScript>
  readonly #peer: Peer
  readonly #listener: EarListener
  #stretch = -1
  #voicedMs = 0
  #silentMs = Infinity
  #shown = 0
  #taken = 0

  constructor(script: EarScript, peer: Peer, listener: EarListener) {
    this.#script = { gapMs: 160, wordMs: 100, lagMs: 0, finalMs: 0, ...script }
    this.#peer = peer
    this.#listener = listener
  }

  get finalMs(): number {
    return this.#script.finalMs
  }

  hear(mulaw: Uint8Array): void {
    for (let at = 0; at + sliceBytes <= mulaw.length; at += sliceBytes)
      this.#hearSlice(decodeG711('pcmu', mulaw.subarray(at, at + sliceBytes)))
  }

  /** All words of the stretch that are not final yet; they are from now on. Empty if there are none. */
  takeFinal(): string {
    if (this.#voicedMs === 0) return ''
    const words = this.#words
    const end = this.#silentMs >= 60 ? words.length : this.#heard
    const taken = words.slice(this.#taken, end).join(' ')
    this.#taken = end
    this.#shown = Math.max(this.#shown, end)
    return taken
  }

  get #words(): string[] {
    return (this.#script.stretches[this.#stretch] ?? '').split(' ').filter((word) => word !== '')
  }

  get #heard(): number {
    return Math.min(this.#words.length, Math.floor(this.#voicedMs / this.#script.wordMs))
  }

  #hearSlice(samples: Int16Array): void {
    const rms = Math.sqrt(samples.reduce((sum, each) => sum + each * each, 0) / samples.length)
    if (rms < speechRms) {
      this.#silentMs += 20
      if (this.#silentMs === pauseMs && this.#voicedMs > 0) this.#listener.onPause?.()
      return
    }
    if (this.#silentMs >= this.#script.gapMs) {
      this.#stretch += 1
      this.#voicedMs = 0
      this.#shown = 0
      this.#taken = 0
      this.#listener.onResumed?.()
    }
    this.#silentMs = 0
    this.#voicedMs += 20
    if (this.#heard <= this.#shown) return
    this.#shown = this.#heard
    const text = this.#words.slice(this.#taken, this.#shown).join(' ')
    this.#peer.later(this.#script.lagMs, () => this.#listener.onPartial(text))
  }
}
