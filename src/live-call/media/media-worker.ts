import { parentPort } from 'node:worker_threads'
import { createVoiceActivityDetector } from '../../audio/voice-activity.ts'
import { Conversation } from '../../conversation/loop/conversation.ts'
import { createCascadeEngine } from '../../conversation/engines/cascade/cascade-engine.ts'
import { createRealtimeEngine } from '../../conversation/engines/realtime/realtime-engine.ts'
import type { VoiceEngine } from '../../conversation/engine/voice-engine.ts'
import type { Logger } from '../../runtime/logger.ts'
import { openRtpSession } from '../../rtp/rtp-session.ts'
import { PhasedTicker } from '../../rtp/ticker.ts'
import { createBrowserLine, type BrowserLine } from './browser-line.ts'
import { MediaChannel } from './media-channel.ts'
import type { EngineSettings, FromMediaWorker, ToMediaWorker } from './media-protocol.ts'
import { createThreadLogger } from '../../runtime/thread-logger.ts'

/** The program of a media worker thread: one ticker for all its calls, one channel for each. */

if (parentPort === null) throw new Error('media-worker.ts runs only as a worker thread.')
const port = parentPort
const ticker = new PhasedTicker()
const channels = new Map<number, Promise<MediaChannel | undefined>>()
/** Lines of talks, by their channel. */
const browsers = new Map<number, BrowserLine>()
const loadPeriodMs = 1_000

const post = (message: FromMediaWorker): void => port.postMessage(message)
const threadLogger = createThreadLogger(post)

const openEngine = (settings: EngineSettings, logger: Logger): VoiceEngine =>
  settings.kind === 'realtime'
    ? createRealtimeEngine({ ...settings, logger })
    : createCascadeEngine({ ...settings, logger })

const openBrowserLine = (channel: number): BrowserLine => {
  const line = createBrowserLine()
  browsers.set(channel, line)
  return line
}

const open = async ({
  channel,
  callId,
  socket,
}: Extract<ToMediaWorker, { type: 'open' }>): Promise<MediaChannel | undefined> => {
  // Every message about a call carries its id.
  const logger = threadLogger.child({ call_id: callId })
  try {
    const rtp = socket === 'browser' ? openBrowserLine(channel) : await openRtpSession(socket)
    const { port: rtpPort } = rtp
    const address = socket === 'browser' ? rtp.address : (socket.publicAddress ?? rtp.address)
    post({ type: 'opened', channel, localMedia: { address, port: rtpPort } })
    return new MediaChannel({
      callId,
      rtp,
      ticker,
      openEngine: (settings) => openEngine(settings, logger),
      openVoiceActivity: createVoiceActivityDetector,
      createConversation: (options) => new Conversation(options),
      post: (event) => post({ type: 'event', channel, event }),
      logger,
    })
  } catch (error) {
    logger.warn({ err: error }, 'no RTP port could be opened')
    channels.delete(channel)
    post({ type: 'open_failed', channel, reason: 'No RTP port is free.' })
    return undefined
  }
}

const stop = async (channel: number): Promise<void> => {
  const opened = channels.get(channel)
  channels.delete(channel)
  browsers.delete(channel)
  const report = await (await opened)?.stop()
  if (report !== undefined) post({ type: 'ended', channel, report })
}

/** Messages of one channel are processed in order, because each waits for the socket. */
const receive = async (message: ToMediaWorker): Promise<void> => {
  if (message.type === 'open') {
    channels.set(message.channel, open(message))
    return
  }
  if (message.type === 'stop') return stop(message.channel)
  if (message.type === 'hear') return browsers.get(message.channel)?.heard(message.g711)
  const channel = await channels.get(message.channel)
  if (message.type === 'prepare') channel?.prepare(message.plan)
  else if (message.type === 'start') channel?.start(message.media, message.recording)
  else if (message.type === 'transfer_settled') channel?.transferSettled(message.result)
  else if (message.type === 'report_words') channel?.reportWords(message.isOn)
  else if (message.type === 'pass_sound') channel?.passSound(message.isOn)
  else if (message.type === 'sound_taken') channel?.soundTaken()
  else if (message.type === 'pressed') channel?.pressed(message.digit)
  else channel?.updateMedia(message.media)
}

const postLoad = (): void => {
  const { user, system } = process.threadCpuUsage()
  const cpuMs = (user + system) / 1000
  const load = { calls: channels.size, latenessP99Ms: ticker.lateness().p99Ms, cpuMs }
  post({ type: 'load', load })
}

port.on('message', (message: ToMediaWorker) => {
  // An error here is a bug: it ends the thread, and the main thread then ends its calls with a reason.
  void receive(message)
})
setInterval(postLoad, loadPeriodMs)
postLoad()
