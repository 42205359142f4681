/** Takes bytes and returns how many; throws a system error. It must never wait. */
type ByteSink = (bytes: Uint8Array) => number

export interface LineWriterOptions {
  readonly sink: ByteSink
  /** The line, without its end, that stands for so many dropped ones. */
  readonly describeLoss: (count: number) => string
  readonly maxHeldBytes?: number
}

/** Half a minute of a busy service's lines. */
const defaultMaxHeldBytes = 1024 * 1024
/** A blocked reader, such as a full pipe, is retried after this time. */
const retryFullMs = 50
/** A failing one, such as a full disk, is retried after this time. */
const retryBrokenMs = 1_000
const flushPauseMs = 5

interface HeldLine {
  bytes: Uint8Array
  /** The dropped lines it stands for. */
  readonly lost: number
}

/**
 * Lines to a sink that may be full, slow or gone without the program noticing. Lines wait in memory while the
 * reader is blocked; when that is full, and while the sink fails, they are dropped. The first line after that
 * reports how many.
 */
export class LineWriter {
  readonly #options: LineWriterOptions
  readonly #maxHeldBytes: number
  readonly #held: HeldLine[] = []
  #heldBytes = 0
  #lost = 0
  #isBroken = false
  /** A part of a line has been written, the rest is lost. */
  #isLineOpen = false
  #retry: NodeJS.Timeout | undefined

  constructor(options: LineWriterOptions) {
    this.#options = options
    this.#maxHeldBytes = options.maxHeldBytes ?? defaultMaxHeldBytes
  }

  /** Takes a line with its end. Never waits, never throws: what cannot be written is dropped and counted. */
  write(line: string): void {
    const hasRoom =
      !this.#isBroken && this.#lost === 0 && this.#heldBytes + line.length <= this.#maxHeldBytes
    if (hasRoom) this.#hold(line)
    else this.#lost += 1
    if (this.#retry === undefined) this.#pump()
  }

  /** Writes the held lines, for at most `limitMs`. Blocks the thread: for the end of the process. */
  flush(limitMs: number): void {
    const deadlineMs = performance.now() + limitMs
    const pause = new Int32Array(new SharedArrayBuffer(4))
    for (;;) {
      this.#pump()
      if (this.#held.length === 0 || performance.now() > deadlineMs) return
      Atomics.wait(pause, 0, 0, flushPauseMs)
    }
  }

  #hold(line: string, standsFor = 0): void {
    const bytes = Buffer.from(line)
    this.#held.push({ bytes, lost: standsFor })
    this.#heldBytes += bytes.length
  }

  #dropHeld(): void {
    for (const line of this.#held) this.#lost += line.lost === 0 ? 1 : line.lost
    this.#held.length = 0
    this.#heldBytes = 0
  }

  #holdLoss(): void {
    const lost = this.#lost
    this.#hold(`${this.#isLineOpen ? '\n' : ''}${this.#options.describeLoss(lost)}\n`, lost)
    this.#lost = 0
  }

  /** Whether all of the line is written; throws the sink's error. */
  #writeLine(line: HeldLine): boolean {
    while (line.bytes.length > 0) {
      const count = this.#options.sink(line.bytes)
      if (count > 0) this.#isLineOpen = count < line.bytes.length
      this.#heldBytes -= count
      line.bytes = line.bytes.subarray(count)
      if (count === 0) return false
    }
    return true
  }

  /** Writes until all is written or the sink takes no more. */
  #writeHeld(): 'done' | 'full' | 'broken' {
    try {
      for (;;) {
        const [line] = this.#held
        if (!line) return 'done'
        if (!this.#writeLine(line)) return 'full'
        this.#held.shift()
      }
    } catch (error) {
      if (isFull(error)) return 'full'
      this.#dropHeld()
      return 'broken'
    }
  }

  #pump(): void {
    let state = this.#writeHeld()
    if (state === 'done' && this.#lost > 0) {
      this.#holdLoss()
      state = this.#writeHeld()
    }
    this.#isBroken = state === 'broken'
    if (state === 'done') return
    this.#retry ??= setTimeout(
      () => {
        this.#retry = undefined
        this.#pump()
      },
      this.#isBroken ? retryBrokenMs : retryFullMs,
    )
    // The process does not stay for it.
    this.#retry.unref()
  }
}

const isFull = (error: unknown): boolean => {
  const { code } = error as NodeJS.ErrnoException
  return code === 'EAGAIN' || code === 'EINTR'
}
