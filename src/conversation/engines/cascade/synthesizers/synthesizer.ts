/** The port of every synthesizer. */
export interface SpeechSynthesizer {
  /** Connects ahead of the first text, where there is a connection to keep. Never throws. */
  warm(): void
  /** Samples at 8 kHz as they arrive. Several texts may be under way. Throws `ProviderError`. */
  speak(text: string, signal: AbortSignal): AsyncIterable<Int16Array>
  /** Safe twice. */
  close(): void
}
