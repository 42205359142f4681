/** What the global scope of an AudioWorklet has; the libraries of TypeScript do not describe it. */
declare const sampleRate: number
declare abstract class AudioWorkletProcessor {
  readonly port: MessagePort
  abstract process(inputs: Float32Array[][], outputs: Float32Array[][]): boolean
}
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void

declare module '*?worker&url' {
  const url: string
  export default url
}
