/** Thrown through the WebAssembly stack when the program calls `proc_exit`. */
class ProgramExit extends Error {
  readonly status: number
  constructor(status: number) {
    super(`exit ${status}`)
    this.status = status
  }
}

const maxOutputBytes = 32 * 1024 * 1024
const wasiOk = 0
const wasiBadDescriptor = 8
const wasiSeekFailed = 70
const folderDescriptor = 3
const outputDescriptor = 4
const characterDevice = 2
const folder = 3
const regularFile = 4

/** The one file the program writes, in memory, growing by doubling up to `maxOutputBytes`. */
const createOutputFile = () => {
  let bytes = new Uint8Array(1 << 16)
  let length = 0
  let position = 0

  const grow = (needed: number): void => {
    if (needed > maxOutputBytes) throw new RangeError('The synthesizer wrote too much.')
    const larger = new Uint8Array(Math.min(maxOutputBytes, Math.max(bytes.length * 2, needed)))
    larger.set(bytes)
    bytes = larger
  }

  return {
    write(chunk: Uint8Array): void {
      if (position + chunk.length > bytes.length) grow(position + chunk.length)
      bytes.set(chunk, position)
      position += chunk.length
      length = Math.max(length, position)
    },
    seek(offset: number, whence: number): number {
      position = whence === 0 ? offset : whence === 1 ? position + offset : length + offset
      return position
    },
    contents: (): Uint8Array => bytes.subarray(0, length),
  }
}

type OutputFile = ReturnType<typeof createOutputFile>

const encoder = new TextEncoder()

/** A folder, the output file in it, and character devices: that is the whole file system. */
const fileTypes: Readonly<Record<number, number>> = {
  [folderDescriptor]: folder,
  [outputDescriptor]: regularFile,
}

/**
 * Runs a WASI command-line program once, with no file system but one output file in memory, and returns that file.
 * It implements only the thirteen calls that Flite makes. `node:wasi` is not used, because it crashed the process
 * on repeated runs.
 */
export const runWasiProgram = (module: WebAssembly.Module, args: readonly string[]): Uint8Array => {
  const output = createOutputFile()
  let memory: WebAssembly.Memory
  const readMemory = (): ArrayBuffer => memory.buffer
  const calls = {
    ...argumentCalls(readMemory, args),
    ...descriptorCalls(readMemory),
    ...outputCalls(readMemory, output),
    // A constant, because the voice must not depend on the time.
    clock_time_get(_clock: number, _precision: bigint, timeAt: number): number {
      new DataView(readMemory()).setBigUint64(timeAt, 0n, true)
      return wasiOk
    },
    proc_exit(status: number): never {
      throw new ProgramExit(status)
    },
  }
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: calls })
  memory = instance.exports.memory as WebAssembly.Memory
  try {
    ;(instance.exports._start as () => void)()
  } catch (error) {
    if (!(error instanceof ProgramExit)) throw error
    if (error.status !== 0) throw new Error(`The program ended with status ${error.status}.`)
  }
  return output.contents()
}

/** The program's memory now: it is another buffer after each growth. */
type ReadMemory = () => ArrayBuffer

const argumentCalls = (readMemory: ReadMemory, args: readonly string[]) => {
  const encodedArgs = args.map((argument) => encoder.encode(`${argument}\0`))
  return {
    args_sizes_get(countAt: number, sizeAt: number): number {
      const view = new DataView(readMemory())
      const size = encodedArgs.reduce((sum, argument) => sum + argument.length, 0)
      view.setUint32(countAt, encodedArgs.length, true)
      view.setUint32(sizeAt, size, true)
      return wasiOk
    },
    args_get(pointersAt: number, textAt: number): number {
      for (const [index, argument] of encodedArgs.entries()) {
        new DataView(readMemory()).setUint32(pointersAt + index * 4, textAt, true)
        new Uint8Array(readMemory()).set(argument, textAt)
        textAt += argument.length
      }
      return wasiOk
    },
  }
}

const descriptorCalls = (readMemory: ReadMemory) => ({
  fd_close: (): number => wasiOk,
  fd_fdstat_set_flags: (): number => wasiOk,
  fd_fdstat_get(descriptor: number, statAt: number): number {
    const stat = new DataView(readMemory())
    stat.setUint8(statAt, fileTypes[descriptor] ?? characterDevice)
    stat.setUint16(statAt + 2, 0, true)
    stat.setBigUint64(statAt + 8, 0xffffffffffffffffn, true)
    stat.setBigUint64(statAt + 16, 0xffffffffffffffffn, true)
    return wasiOk
  },
  fd_prestat_get(descriptor: number, statAt: number): number {
    if (descriptor !== folderDescriptor) return wasiBadDescriptor
    const stat = new DataView(readMemory())
    stat.setUint8(statAt, 0)
    stat.setUint32(statAt + 4, 1, true)
    return wasiOk
  },
  fd_prestat_dir_name(_descriptor: number, nameAt: number): number {
    new Uint8Array(readMemory())[nameAt] = '.'.charCodeAt(0)
    return wasiOk
  },
  path_open(...parameters: unknown[]): number {
    new DataView(readMemory()).setUint32(parameters.at(-1) as number, outputDescriptor, true)
    return wasiOk
  },
})

const outputCalls = (readMemory: ReadMemory, output: OutputFile) => ({
  fd_read(_descriptor: number, _buffers: number, _count: number, readAt: number): number {
    new DataView(readMemory()).setUint32(readAt, 0, true)
    return wasiOk
  },
  fd_seek(descriptor: number, offset: bigint, whence: number, positionAt: number): number {
    if (descriptor !== outputDescriptor) return wasiSeekFailed
    const position = output.seek(Number(offset), whence)
    new DataView(readMemory()).setBigUint64(positionAt, BigInt(position), true)
    return wasiOk
  },
  fd_write(descriptor: number, buffers: number, count: number, writtenAt: number): number {
    const view = new DataView(readMemory())
    const bytes = new Uint8Array(readMemory())
    let written = 0
    for (let index = 0; index < count; index += 1) {
      const start = view.getUint32(buffers + index * 8, true)
      const length = view.getUint32(buffers + index * 8 + 4, true)
      if (descriptor === outputDescriptor) output.write(bytes.subarray(start, start + length))
      written += length
    }
    view.setUint32(writtenAt, written, true)
    return wasiOk
  },
})
