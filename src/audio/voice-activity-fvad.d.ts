/** The package ships no types. Emscripten's loader; pointers are byte offsets into the heap. */
declare module '@echogarden/fvad-wasm' {
  export interface FvadModule {
    /** Read again for every use, because it moves when the memory grows. */
    readonly HEAP16: Int16Array
    _malloc(bytes: number): number
    _free(pointer: number): void
    /** 0 when out of memory. */
    _fvad_new(): number
    _fvad_free(handle: number): void
    /** 0 to 3, the strictest. */
    _fvad_set_mode(handle: number, mode: number): number
    _fvad_set_sample_rate(handle: number, sampleRateHz: number): number
    /** 1 voice, 0 none, -1 wrong length. */
    _fvad_process(handle: number, frame: number, samples: number): number
  }
  export default function loadFvad(): Promise<FvadModule>
}
