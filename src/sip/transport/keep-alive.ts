/** The times of one kept connection. */
export interface KeepAliveTimes {
  /** Between two pings. With twice `answerMs` it bounds how long a dead connection stays unnoticed: 40 s. */
  readonly pingEveryMs: number
  /** How long a pong, and then the response to a request, may take (RFC 5626 4.4.1). */
  readonly answerMs: number
}

export const defaultKeepAlive: KeepAliveTimes = { pingEveryMs: 20_000, answerMs: 10_000 }

interface KeptConnection {
  /** Writes a double CRLF. */
  ping(): void
  /**
   * Asks for the response to a request, because many servers send no pong. Resolves after the response or a time
   * limit; what counts is whether it came on this connection.
   */
  ask(): Promise<unknown>
  onDead(): void
}

/** Keeps one connection open, and finds out when its other end is gone. */
interface KeepAlive {
  /** Bytes came. `isPong`: they are a single CRLF, so this peer answers pings. */
  heard(isPong: boolean): void
  stop(): void
}

/**
 * RFC 5626 4.4.1 for every connection that we opened: a double CRLF keeps NATs and firewalls open. A peer that once
 * sent a pong is dead 10 s after an unanswered ping. Another one is first asked by a request.
 */
export const createKeepAlive = (
  connection: KeptConnection,
  { pingEveryMs, answerMs }: KeepAliveTimes,
): KeepAlive => {
  let hasPonged = false
  let isSilent = false
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  const after = (ms: number, task: () => void): void => {
    timer = setTimeout(task, ms).unref()
  }
  const ping = (): void => {
    isSilent = true
    connection.ping()
    after(answerMs, judge)
  }
  const rest = (): void => {
    if (!isStopped) after(Math.max(0, pingEveryMs - answerMs), ping)
  }
  const judge = (): void => {
    if (!isSilent) rest()
    else if (hasPonged) connection.onDead()
    else void ask()
  }
  const ask = async (): Promise<void> => {
    await connection.ask().catch(() => false)
    if (isStopped) return
    if (isSilent) connection.onDead()
    else rest()
  }
  after(pingEveryMs, ping)
  return {
    heard: (isPong) => {
      isSilent = false
      hasPonged ||= isPong
    },
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
