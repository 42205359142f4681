/** The other side of the benchmark, in its own process: callees behind SIP and RTP, and the scripted model. */
import { setTimeout as delay } from 'node:timers/promises'
import { createSynthesizer } from '../../src/audio/flite.ts'
import { ScriptedRealtimeServer } from '../../src/conversation/engines/scripted/scripted-realtime-server.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { openRtpSession } from '../../src/rtp/rtp-session.ts'
import { PhasedTicker } from '../../src/rtp/ticker.ts'
import { createMediaNegotiator } from '../../src/sdp/sdp.ts'
import type { IncomingInvite } from '../../src/sip/user-agent/user-agent-types.ts'
import { anySource } from '../../src/sip/gate/sources.ts'
import { createUserAgent } from '../../src/sip/user-agent/user-agent.ts'
import { createMeasuringCallee, type CalleeFigures } from './measuring-callee.ts'

const question = 'Tell me about the parking.'
const interruption = 'Hold on a second, please, I have to write that down.'

/** The time a person needs to answer; meanwhile the engine's session is opened. */
const ringMs = 1_000
const loopback = '127.0.0.1'
const maxInvitesPerSecond = 2_000
const logger = silentLogger
const ticker = new PhasedTicker()
const figures: CalleeFigures = { firstWordsMs: [], turnMs: [], bargeInMs: [] }
const synthesizer = createSynthesizer()

const voiced = (text: string): Int16Array => {
  const { samples } = synthesizer.synthesize(text, 'kal')
  const isLoud = (sample: number): boolean => Math.abs(sample) > 400
  return samples.slice(samples.findIndex(isLoud), samples.findLastIndex(isLoud) + 1)
}
const clips = { question: voiced(question), interruption: voiced(interruption) }

const serve = async (incoming: IncomingInvite): Promise<void> => {
  const session = await openRtpSession({
    bindAddress: loopback,
    portRange: { min: 20_002, max: 29_998 },
  })
  const answer = createMediaNegotiator({ local: session }).answer(incoming.offer ?? '')
  if (!answer) return incoming.reject(488, 'Not Acceptable Here')
  incoming.provisional(180, 'Ringing')
  await delay(ringMs)
  session.connect(answer.audio)
  const dialog = await incoming.accept(answer.sdp)
  if (!dialog) return session.close()
  const callee = createMeasuringCallee(session, clips, figures)
  const leave = ticker.add(
    () => callee.tick(),
    () => {},
  )
  await dialog.ended
  leave()
  await session.close()
}

const userAgent = createUserAgent({
  sources: anySource,
  bindAddress: loopback,
  maxUnknownPerSecond: maxInvitesPerSecond,
  logger,
})
userAgent.onInvite((incoming) => void serve(incoming))
const model = new ScriptedRealtimeServer({ vocabulary: [question, interruption], logger })
await Promise.all([userAgent.start(), model.start()])

process.on('message', (message: string) => {
  if (message === 'figures') {
    process.send?.({ figures })
    for (const values of Object.values(figures) as number[][]) values.length = 0
  }
  if (message === 'cpu') {
    const { user, system } = process.cpuUsage()
    process.send?.({ cpuMs: (user + system) / 1000 })
  }
  if (message === 'stop') process.exit()
})
process.on('disconnect', () => process.exit())
process.send?.({ sipPort: userAgent.localPort, modelUrl: model.url })
