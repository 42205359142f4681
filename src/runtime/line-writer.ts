/** Takes bytes and returns how many; throws a system error. It must never wait. */
export type ByteSink = (bytes: Uint8Array) => number

export interface LineWriter {
  /** Takes a line with its end. Never waits, never throws: what cannot be written is dropped and counted. */
  write(line: string): void
  /** Writes what is held, for at most `limitMs`. The thread stands still meanwhile: for the end of the process. */
  flush(limitMs: number): void
}

export interface LineWriterOptions {
  readonly sink: ByteSink
  /** The line, without its end, that stands for so many dropped ones. */
  readonly describeLoss: (count: number) => string
  readonly maxHeldBytes?: number
}

/** Half a minute of a busy service's lines. */
const defaultMaxHeldBytes = 1024 * 1024
/** A reader that stands still, as a full pipe does, is tried again after this time. */
const retryFullMs = 50
/** And one that fails, as a full disk does, after this. */
const retryBrokenMs = 1_000
const flushPauseMs = 5

interface HeldLine {
  bytes: Uint8Array
  /** The dropped lines it stands for. */
  readonly lost: number
}

/**
 * Lines to a place that may be full, slow or gone without the program noticing. Lines wait in memory while the reader
 * stands still; when that is full, and while the place fails, they are dropped. The first line after that says how many.
 */
export const createLineWriter = ({
  sink,
  describeLoss,
  maxHeldBytes = defaultMaxHeldBytes,
}: LineWriterOptions): LineWriter => {
  const held: HeldLine[] = []
  let heldBytes = 0
  let lost = 0
  let isBroken = false
  /** A part of a line has been written, the rest is lost. */
  let isLineOpen = false
  let retry: NodeJS.Timeout | undefined

  const hold = (line: string, standsFor = 0): void => {
    const bytes = Buffer.from(line)
    held.push({ bytes, lost: standsFor })
    heldBytes += bytes.length
  }

  const dropHeld = (): void => {
    for (const line of held) lost += line.lost === 0 ? 1 : line.lost
    held.length = 0
    heldBytes = 0
  }

  const holdLoss = (): void => {
    hold(`${isLineOpen ? '\n' : ''}${describeLoss(lost)}\n`, lost)
    lost = 0
  }

  /** Whether all of the line is written; throws the sink's error. */
  const writeLine = (line: HeldLine): boolean => {
    while (line.bytes.length > 0) {
      const count = sink(line.bytes)
      if (count > 0) isLineOpen = count < line.bytes.length
      heldBytes -= count
      line.bytes = line.bytes.subarray(count)
      if (count === 0) return false
    }
    return true
  }

  /** Writes until all is written or the sink takes no more. */
  const writeHeld = (): 'done' | 'full' | 'broken' => {
    try {
      for (;;) {
        const [line] = held
        if (!line) return 'done'
        if (!writeLine(line)) return 'full'
        held.shift()
      }
    } catch (error) {
      if (isFull(error)) return 'full'
      dropHeld()
      return 'broken'
    }
  }

  const pump = (): void => {
    let state = writeHeld()
    if (state === 'done' && lost > 0) {
      holdLoss()
      state = writeHeld()
    }
    isBroken = state === 'broken'
    if (state === 'done') return
    retry ??= setTimeout(onRetry, isBroken ? retryBrokenMs : retryFullMs)
    // The process does not stay for it.
    retry.unref()
  }
  const onRetry = (): void => {
    retry = undefined
    pump()
  }

  return {
    write: (line) => {
      if (isBroken || lost > 0 || heldBytes + line.length > maxHeldBytes) {
        lost += 1
        if (retry === undefined) pump()
        return
      }
      hold(line)
      if (retry === undefined) pump()
    },
    flush: (limitMs) => {
      const deadlineMs = performance.now() + limitMs
      const pause = new Int32Array(new SharedArrayBuffer(4))
      for (;;) {
        pump()
        if (held.length === 0 || performance.now() > deadlineMs) return
        Atomics.wait(pause, 0, 0, flushPauseMs)
      }
    },
  }
}

const isFull = (error: unknown): boolean => {
  const { code } = error as NodeJS.ErrnoException
  return code === 'EAGAIN' || code === 'EINTR'
}
