import { frameMs } from '../../audio/frame.ts'
import { decodeG711, g711FrameBytes, type G711Codec } from '../../audio/g711.ts'
import { energyOf } from '../../audio/level.ts'
import type { VoiceActivityDetector } from '../../audio/voice-activity.ts'
import { createSpeechSegmenter } from '../../audio/voice-activity-segmenter.ts'
import { createSpeechOnsets } from './speech-onsets.ts'

/** Longer speech without an understood word is noise. */
const longestSpeechMs = 30_000
const endSilenceMs = 300

/** Hears the callee without any engine: when they speak, and how loud. */
export class CalleeSpeech {
  readonly #codec: G711Codec
  readonly #voiceActivity: VoiceActivityDetector
  readonly #segmenter = createSpeechSegmenter({ endSilenceMs })
  readonly #onsets = createSpeechOnsets()
  #isVoiced = false
  #speakingMs = 0
  /** The last frame: 160 samples at 8 kHz. */
  readonly samples = new Int16Array(g711FrameBytes)

  constructor(codec: G711Codec, voiceActivity: VoiceActivityDetector) {
    this.#codec = codec
    this.#voiceActivity = voiceActivity
  }

  /** The next frame of 20 ms. */
  hear(frame: Uint8Array): void {
    decodeG711(this.#codec, frame, this.samples)
    this.#isVoiced = this.#voiceActivity.isVoiced(this.samples)
    const boundary = this.#segmenter.push(this.#isVoiced)
    if (boundary?.kind === 'start') this.#onsets.add(boundary.atMs)
    this.#speakingMs = this.#segmenter.isSpeaking ? this.#speakingMs + frameMs : 0
  }

  /** An engine understood words of the callee: the audio is speech, not noise. */
  wordsUnderstood(): void {
    this.#speakingMs = 0
  }

  /** Whether the last frame was voiced. */
  get isVoiced(): boolean {
    return this.#isVoiced
  }

  /** Mean square of the last frame. */
  get energy(): number {
    return energyOf(this.samples)
  }

  get isSpeaking(): boolean {
    return this.#segmenter.isSpeaking
  }

  /** Whether a noise has lasted so long that it counts as silence. */
  get isNoise(): boolean {
    return this.#speakingMs >= longestSpeechMs
  }

  /** The time at which the loop heard the speech begin that the engine dates at `engineMs`. */
  onsetNear(engineMs: number): number {
    return this.#onsets.nearest(engineMs)
  }

  close(): void {
    this.#voiceActivity.close()
  }
}
