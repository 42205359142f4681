import { parentPort, workerData } from 'node:worker_threads'
import type { Logger } from '../../runtime/logger.ts'
import { createSandboxServer } from './sandbox-server.ts'
import type { FromSandboxWorker, SandboxWorkerData, ToSandboxWorker } from './sandbox-protocol.ts'

/** The program of the sandbox carrier's thread. */
if (!parentPort) throw new Error('sandbox-worker.ts runs in a worker thread.')
const port = parentPort
const data = workerData as SandboxWorkerData
const tell = (message: FromSandboxWorker): void => port.postMessage(message)

/** An error does not survive the transfer to another thread completely: its stack is the useful part. */
const plain = (fields: object): object =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]: [string, unknown]) => [
      name,
      value instanceof Error ? (value.stack ?? value.message) : value,
    ]),
  )

const createForwardingLogger = (context: object): Logger => {
  const forward =
    (level: 'debug' | 'info' | 'warn' | 'error') => (fields: object, message: string) =>
      tell({ type: 'log', level, fields: plain({ ...context, ...fields }), message })
  return {
    debug: forward('debug'),
    info: forward('info'),
    warn: forward('warn'),
    error: forward('error'),
    child: (fields) => createForwardingLogger({ ...context, ...fields }),
  }
}

const server = createSandboxServer({
  port: data.port,
  ...(data.callerPort !== undefined && { callerPort: data.callerPort }),
  ...(data.rtpPortRange && { rtpPortRange: data.rtpPortRange }),
  logger: createForwardingLogger({}),
})

const stop = async (): Promise<void> => {
  await server.stop()
  port.close()
}

port.on('message', (message: ToSandboxWorker) => {
  if (message.type === 'report') tell({ type: 'report', report: server.report() })
  else void stop()
})

try {
  await server.start()
  tell({ type: 'ready', port: server.port })
} catch (error) {
  tell({ type: 'failed', reason: error instanceof Error ? error.message : String(error) })
  port.close()
}
