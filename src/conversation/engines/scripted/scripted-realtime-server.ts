import { Worker } from 'node:worker_threads'
import { backoffMs } from '../../../runtime/backoff.ts'
import type { Logger } from '../../../runtime/logger.ts'
import type { Service } from '../../../runtime/service.ts'
import type { ScriptedServerMessage, ScriptedServerSettings } from './scripted-server-protocol.ts'

export interface ScriptedRealtimeServer extends Service {
  /** `ws://127.0.0.1:<port>/v1/realtime`, once started; the same after a restart of its thread. */
  readonly url: string
  /** `http://127.0.0.1:<port>/v1`: transcription, chat and speech of the same model. */
  readonly httpUrl: string
}

const restartDelay = { baseMs: 100, maxMs: 5_000 }

/**
 * A model without weights on loopback, in its own thread, behind the Realtime protocol and OpenAI's
 * HTTP interface. It finds speech in the audio, matches it against its vocabulary, replies by a
 * small table of rules and speaks with Flite. A thread that dies is restarted on the same port; its
 * sessions are lost.
 */
export const createScriptedRealtimeServer = ({
  vocabulary,
  logger,
  tls,
  port: wantedPort = 0,
}: {
  vocabulary: readonly string[]
  logger: Logger
  tls?: ScriptedServerSettings['tls']
  /** Any free port if omitted. */
  port?: number
}): ScriptedRealtimeServer => {
  let worker: Worker | undefined
  let starting: Promise<void> | undefined
  let restartTimer: NodeJS.Timeout | undefined
  let port = wantedPort
  let isListening = false
  let deaths = 0
  let isStopped = false

  const startThread = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const settings: ScriptedServerSettings = { vocabulary, port, ...(tls && { tls }) }
      const thread = new Worker(new URL('./scripted-server-worker.ts', import.meta.url), {
        workerData: settings,
      })
      worker = thread
      thread.on('message', (message: ScriptedServerMessage) => {
        port = message.port
        isListening = true
        deaths = 0
        resolve()
      })
      thread.on('error', (error) => {
        logger.error({ err: error }, 'the scripted voice engine broke')
        reject(error)
      })
      thread.on('exit', () => {
        reject(new Error('The scripted voice engine ended before it was ready.'))
        if (worker === thread) restart()
      })
    })

  const restart = (): void => {
    worker = undefined
    if (isStopped || !isListening) return
    deaths += 1
    restartTimer = setTimeout(
      () => {
        startThread().catch((error: unknown) =>
          logger.error({ err: error }, 'the scripted voice engine could not be started again'),
        )
      },
      backoffMs(deaths, restartDelay),
    )
  }

  const address = (): string => {
    if (!isListening) throw new Error('The scripted voice engine has not been started.')
    return `127.0.0.1:${port}`
  }

  return {
    start: () => (starting ??= startThread()),
    async stop() {
      isStopped = true
      clearTimeout(restartTimer)
      await worker?.terminate()
      worker = undefined
    },
    get url() {
      return `${tls ? 'wss' : 'ws'}://${address()}/v1/realtime`
    },
    get httpUrl() {
      return `${tls ? 'https' : 'http'}://${address()}/v1`
    },
  }
}
