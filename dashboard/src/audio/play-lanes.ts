// oxlint-disable-next-line import/default -- Vite's suffix makes it the address of the built file.
import playbackUrl from './playback.worklet.ts?worker&url'

/** Plays lanes of G.711 as they come. Call it from a click: browsers play nothing before one. */
export const openPlayback = async (context: AudioContext, lanes: 1 | 2) => {
  await context.audioWorklet.addModule(playbackUrl)
  const node = new AudioWorkletNode(context, 'playback', {
    numberOfInputs: 0,
    outputChannelCount: [lanes],
  })
  node.connect(context.destination)
  return { play: (bytes: readonly Uint8Array[]): void => node.port.postMessage(bytes) }
}
