import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Logger } from '../../runtime/logger.ts'
import type { Service } from '../../runtime/service.ts'

interface MetricsServerOptions {
  readonly host: string
  readonly port: number
  readonly contentType: string
  /** The whole text; never rejects for a database that is gone. */
  readonly render: () => Promise<string>
  readonly logger: Logger
}

const limits = { maxConnections: 16, headersMs: 5_000, requestMs: 10_000, keepAliveMs: 5_000 }

/** Answers GET and HEAD /metrics, and 404 to anything else. Start rejects with the system's error. */
export const createMetricsServer = (options: MetricsServerOptions): Service => {
  const { logger } = options
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.keepAliveMs,
      maxHeaderSize: 8_192,
    },
    (request, response) => {
      answer(options, request, response).catch((error: unknown) => {
        logger.warn({ err: error }, 'the metrics could not be written')
        response.destroy()
      })
    },
  )
  server.maxConnections = limits.maxConnections
  return {
    start: async () => {
      if (server.listening) return
      server.listen(options.port, options.host)
      await once(server, 'listening')
      logger.info({ address: server.address() }, 'metrics are served')
    },
    stop: async () => {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

const answer = async (
  { render, contentType }: MetricsServerOptions,
  { method, url }: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const isScrape = (method === 'GET' || method === 'HEAD') && url?.split('?')[0] === '/metrics'
  // A body that was not asked for is not read.
  if (!isScrape) return void response.writeHead(404, { connection: 'close' }).end()
  const text = await render()
  response.writeHead(200, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
  })
  response.end(method === 'HEAD' ? undefined : text)
}
