import { connect, type Socket } from 'node:net'

/** Writes the request with this number. */
export type MakeRequest = (serial: number) => string

export interface LoadOptions {
  readonly port: number
  readonly make: MakeRequest
  readonly expectedStatus: number
  readonly connections: number
  readonly durationMs: number
  /** Continues until this many got responses: a server is slow until its code is compiled. */
  readonly minRequests?: number
  /**
   * Never sleeps, so that no server pays for waking the client: in a virtual machine that costs more than a
   * response.
   */
  readonly isWakeful?: boolean
}

export interface LoadResult {
  readonly requests: number
  readonly seconds: number
}

/** One request at a time over a kept connection. Cheap, so that it takes little from the measured server. */
const openConnection = async (port: number, expectedStatus: number) => {
  const socket = await connected(port)
  let received = ''
  let waiting: PromiseWithResolvers<void> | undefined
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    received += chunk
    const headEnd = received.indexOf('\r\n\r\n')
    if (headEnd === -1) return
    const length = /content-length: (\d+)/i.exec(received)?.[1]
    if (received.length < headEnd + 4 + Number(length)) return
    const status = Number(received.slice(9, 12))
    if (status === expectedStatus) waiting?.resolve()
    else waiting?.reject(new Error(`${received.slice(0, 500)}`))
    received = ''
  })
  socket.on('close', () => waiting?.reject(new Error('The server closed the connection.')))
  return {
    ask(request: string): Promise<void> {
      waiting = Promise.withResolvers()
      socket.write(request)
      return waiting.promise
    },
    close: () => socket.destroy(),
  }
}

const connected = (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket))
    socket.on('error', reject)
  })

/** Serials never repeat within a process, so no Idempotency-Key does. */
let nextSerial = 0

/** The maximum request rate: each connection sends its next request once it has a response. */
export const closedLoop = async (options: LoadOptions): Promise<LoadResult> => {
  const startedMs = performance.now()
  let requests = 0
  const work = async (): Promise<void> => {
    const connection = await openConnection(options.port, options.expectedStatus)
    while (
      performance.now() - startedMs < options.durationMs ||
      requests < (options.minRequests ?? 0)
    ) {
      await connection.ask(options.make(nextSerial++))
      requests += 1
    }
    connection.close()
  }
  let isOver = false
  const stayAwake = (): void => {
    if (!isOver) setImmediate(stayAwake)
  }
  if (options.isWakeful) stayAwake()
  await Promise.all(Array.from({ length: options.connections }, work)).finally(() => {
    isOver = true
  })
  return { requests, seconds: (performance.now() - startedMs) / 1000 }
}

/**
 * Requests at a fixed rate, independent of the responses. A latency counts from the instant the request was due, so
 * that a stall affects every request that it delays.
 */
export const openLoop = async (
  options: LoadOptions & { readonly perSecond: number },
): Promise<readonly number[]> => {
  const open = () => openConnection(options.port, options.expectedStatus)
  const idle = await Promise.all(Array.from({ length: options.connections }, open))
  const all = [...idle]
  const due: number[] = []
  const latencies: number[] = []
  const running = new Set<Promise<void>>()
  const failures: unknown[] = []
  const send = (): void => {
    for (;;) {
      const connection = due.length > 0 ? idle.pop() : undefined
      const dueMs = connection && due.shift()
      if (!connection || dueMs === undefined) return
      const asked = connection
        .ask(options.make(nextSerial++))
        .then(() => {
          latencies.push(performance.now() - dueMs)
          idle.push(connection)
          send()
        })
        .catch((error: unknown) => failures.push(error))
        .finally(() => running.delete(asked)) as Promise<void>
      running.add(asked)
    }
  }
  const startedMs = performance.now()
  const total = Math.floor((options.perSecond * options.durationMs) / 1000)
  await new Promise<void>((resolve) => {
    let scheduled = 0
    const tick = (): void => {
      const elapsedMs = performance.now() - startedMs
      for (
        ;
        scheduled < total && (scheduled * 1000) / options.perSecond <= elapsedMs;
        scheduled += 1
      )
        due.push(startedMs + (scheduled * 1000) / options.perSecond)
      send()
      if (scheduled === total) return resolve()
      setTimeout(tick, 1)
    }
    tick()
  })
  while (running.size > 0) await Promise.all(running)
  for (const connection of all) connection.close()
  if (failures.length > 0) throw failures[0]
  return latencies
}
