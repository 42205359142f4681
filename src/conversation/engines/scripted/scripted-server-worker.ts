import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { WebSocketServer, type WebSocket } from 'ws'
import { createSynthesizer } from '../../../audio/flite.ts'
import { createVoiceActivityDetector } from '../../../audio/voice-activity.ts'
import type { ScriptedServerMessage, ScriptedServerSettings } from './scripted-server-protocol.ts'
import { createScriptedHttp } from './scripted-http.ts'
import { ScriptedSession } from './scripted-session.ts'
import { defaultVoice } from './scripted-voice.ts'
import { createSpeechQueue } from './speech-queue.ts'
import { createUnderstanding } from './understanding.ts'

/**
 * The program of the scripted server's thread: synthesis and recognition block only this thread.
 */

if (parentPort === null) throw new Error('scripted-server-worker.ts runs only as a worker thread.')
const port = parentPort
const settings = workerData as ScriptedServerSettings

const maxMessageBytes = 1024 * 1024
const maxSessions = 2_000
const tryAgainLater = 1013
const maxEarlyMessages = 500

const post = (message: ScriptedServerMessage): void => port.postMessage(message)

const synthesizer = createSynthesizer()
const understanding = createUnderstanding(settings.vocabulary, synthesizer)
const speech = createSpeechQueue()

const serve = async (socket: WebSocket): Promise<void> => {
  // Messages that arrive before the detector is ready wait for it.
  const early: string[] = []
  let receive = (message: string): void => {
    if (early.length < maxEarlyMessages) early.push(message)
  }
  socket.on('message', (data: Buffer) => receive(data.toString('utf8')))
  socket.on('error', () => socket.terminate())
  const voiceActivity = await createVoiceActivityDetector()
  const session = new ScriptedSession({
    voiceActivity,
    understanding,
    synthesizer,
    speech,
    send: (message) => socket.send(message),
  })
  if (socket.readyState !== socket.OPEN) return session.close()
  socket.on('close', () => session.close())
  receive = (message) => session.receive(message)
  for (const message of early) session.receive(message)
}

const answerHttp = createScriptedHttp({ understanding, synthesizer })
const onRequest: RequestListener = (request, response) => {
  answerHttp(request, response).catch(() => {
    // The client went away, or there is a bug: in both cases the rest is not needed.
    response.destroy()
  })
}
const server = settings.tls
  ? createHttpsServer(settings.tls, onRequest)
  : createHttpServer(onRequest)
const sockets = new WebSocketServer({
  server,
  path: '/v1/realtime',
  maxPayload: maxMessageBytes,
  perMessageDeflate: false,
})
/** The first session comes while its phone rings: a service without calls never loads Flite. */
let isPrepared = false
const prepareVoice = (): void => {
  if (!isPrepared) synthesizer.prepare(defaultVoice)
  isPrepared = true
}

sockets.on('connection', (socket) => {
  if (sockets.clients.size > maxSessions) return socket.close(tryAgainLater)
  prepareVoice()
  // An error here is a bug: it ends the thread and its sessions.
  void serve(socket)
  return undefined
})
server.listen(settings.port, '127.0.0.1', () =>
  post({ type: 'listening', port: (server.address() as AddressInfo).port }),
)
