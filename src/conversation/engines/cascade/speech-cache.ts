/** Speech that repeats with the same words and voice: fillers, apologies, greetings without a name. */
export interface SpeechCache {
  get(key: string): Uint8Array | undefined
  put(key: string, g711: Uint8Array): void
}

/** About half an hour of speech for all calls of a thread. */
const maxBytes = 16 * 1024 * 1024
const maxClipBytes = 512 * 1024

export const createSpeechCache = (): SpeechCache => {
  const clips = new Map<string, Uint8Array>()
  let bytes = 0

  return {
    get(key) {
      const clip = clips.get(key)
      if (clip) {
        clips.delete(key)
        clips.set(key, clip)
      }
      return clip
    },
    put(key, g711) {
      if (g711.length > maxClipBytes || clips.has(key)) return
      clips.set(key, g711)
      bytes += g711.length
      for (const [oldest, clip] of clips) {
        if (bytes <= maxBytes) return
        clips.delete(oldest)
        bytes -= clip.length
      }
    },
  }
}
