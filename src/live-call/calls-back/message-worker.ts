import { parentPort } from 'node:worker_threads'
import { openRtpSession } from '../../rtp/rtp-session.ts'
import { PhasedTicker } from '../../rtp/ticker.ts'
import { createThreadLogger } from '../../runtime/thread-logger.ts'
import { createMessageLine, type MessageLine } from './message-line.ts'
import type { FromMessageWorker, ToMessageWorker } from './message-protocol.ts'

/** The program of the thread that speaks messages to people who call us: one ticker for all of them. */

if (parentPort === null) throw new Error('message-worker.ts runs only as a worker thread.')
const port = parentPort
const ticker = new PhasedTicker()
const lines = new Map<number, Promise<MessageLine | undefined>>()

const post = (message: FromMessageWorker): void => port.postMessage(message)
const logger = createThreadLogger(post)

const open = async ({
  call,
  socket,
}: Extract<ToMessageWorker, { type: 'open' }>): Promise<MessageLine | undefined> => {
  try {
    const session = await openRtpSession(socket)
    const address = socket.publicAddress ?? session.address
    post({ type: 'opened', call, localMedia: { address, port: session.port } })
    return createMessageLine(session, ticker, () => post({ type: 'played', call }), logger)
  } catch (error) {
    logger.warn({ err: error }, 'no RTP port could be opened for a message')
    lines.delete(call)
    post({ type: 'open_failed', call })
    return undefined
  }
}

/** Messages of one call are processed in order, because each waits for the socket. */
const receive = async (message: ToMessageWorker): Promise<void> => {
  if (message.type === 'open') return void lines.set(message.call, open(message))
  const opened = lines.get(message.call)
  if (message.type === 'close') lines.delete(message.call)
  const line = await opened
  if (message.type === 'connect') line?.connect(message.media)
  else if (message.type === 'play') line?.play(message.samples)
  else await line?.close()
}

port.on('message', (message: ToMessageWorker) => void receive(message))
