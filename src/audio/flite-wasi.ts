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

/** A program that took this much memory on top, over all its runs, is replaced by a new instance. */
const maxGrownBytes = 16 * 1024 * 1024

/** Runs the program once with these arguments, the program's name first, and returns the file that it wrote. */
export type RunWasiProgram = (args: readonly string[]) => Uint8Array

/**
 * A WASI command-line program with no file system but one output file in memory. It implements only the thirteen
 * calls that Flite makes. `node:wasi` is not used, because it crashed the process on repeated runs.
 *
 * Each run begins with the memory of a new instance. Copying it back takes 1 ms, a new instance 10 ms, because the
 * system maps 16 MB again page by page. A run that fails leaves its stack behind, so its instance is not used again.
 */
export const createWasiProgram = (module: WebAssembly.Module): RunWasiProgram => {
  let idle: Instance | undefined
  return (args) => {
    const instance = idle ?? instantiate(module)
    idle = undefined
    const contents = instance.run(args)
    if (instance.restore()) idle = instance
    return contents
  }
}

interface Instance {
  run(args: readonly string[]): Uint8Array
  /** Puts the first memory back; false if the instance has grown too large. */
  restore(): boolean
}

const instantiate = (module: WebAssembly.Module): Instance => {
  let memory: WebAssembly.Memory
  let output = createOutputFile()
  let programArgs: readonly string[] = []
  const readMemory = (): ArrayBuffer => memory.buffer
  const calls = {
    ...argumentCalls(readMemory, () => programArgs),
    ...descriptorCalls(readMemory),
    ...outputCalls(readMemory, () => output),
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
  const first = new Uint8Array(memory.buffer).slice()
  return {
    run(args) {
      output = createOutputFile()
      programArgs = args
      try {
        ;(instance.exports._start as () => void)()
      } catch (error) {
        if (!(error instanceof ProgramExit)) throw error
        throw new Error(`The program ended with status ${error.status}.`, { cause: error })
      }
      return output.contents()
    },
    restore() {
      const bytes = new Uint8Array(memory.buffer)
      if (bytes.length - first.length > maxGrownBytes) return false
      bytes.set(first)
      bytes.fill(0, first.length)
      return true
    },
  }
}

/** The program's memory now: it is another buffer after each growth. */
type ReadMemory = () => ArrayBuffer

const argumentCalls = (readMemory: ReadMemory, args: () => readonly string[]) => {
  const encodedArgs = () => args().map((argument) => encoder.encode(`${argument}\0`))
  return {
    args_sizes_get(countAt: number, sizeAt: number): number {
      const view = new DataView(readMemory())
      const size = encodedArgs().reduce((sum, argument) => sum + argument.length, 0)
      view.setUint32(countAt, args().length, true)
      view.setUint32(sizeAt, size, true)
      return wasiOk
    },
    args_get(pointersAt: number, textAt: number): number {
      for (const [index, argument] of encodedArgs().entries()) {
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

const outputCalls = (readMemory: ReadMemory, output: () => OutputFile) => ({
  fd_read(_descriptor: number, _buffers: number, _count: number, readAt: number): number {
    new DataView(readMemory()).setUint32(readAt, 0, true)
    return wasiOk
  },
  fd_seek(descriptor: number, offset: bigint, whence: number, positionAt: number): number {
    if (descriptor !== outputDescriptor) return wasiSeekFailed
    const position = output().seek(Number(offset), whence)
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
      if (descriptor === outputDescriptor) output().write(bytes.subarray(start, start + length))
      written += length
    }
    view.setUint32(writtenAt, written, true)
    return wasiOk
  },
})
