/**
 * The memory that conversations leave behind: the heap after collection, round by round, for both engines against
 * the scripted server. Ticks run ten times as fast as real time. Usage: `npm run bench leaks -- [conversations]`.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createSynthesizer } from '../src/audio/flite.ts'
import { encodeG711, g711FrameBytes, g711Silence } from '../src/audio/g711.ts'
import { createVoiceActivityDetector } from '../src/audio/voice-activity.ts'
import { Conversation } from '../src/conversation/loop/conversation.ts'
import { createCascadeEngine } from '../src/conversation/engines/cascade/cascade-engine.ts'
import { createRealtimeEngine } from '../src/conversation/engines/realtime/realtime-engine.ts'
import { ScriptedRealtimeServer } from '../src/conversation/engines/scripted/scripted-realtime-server.ts'
import type { VoiceEngine } from '../src/conversation/engine/voice-engine.ts'
import { silentLogger } from '../src/runtime/logger.ts'

const rounds = 5
const atATime = 20
/** Six seconds of call: greeting, one word of the callee, the reply. */
const ticks = 300
const speaksAtTick = 100
const logger = silentLogger

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const word = 'Hello?'
const server = new ScriptedRealtimeServer({ vocabulary: [word], logger })
await server.start()
const speech = encodeG711('pcmu', createSynthesizer().synthesize(word, 'kal').samples)

const heard = (tick: number): Uint8Array => {
  const at = (tick - speaksAtTick) * g711FrameBytes
  return at >= 0 && at + g711FrameBytes <= speech.length
    ? speech.subarray(at, at + g711FrameBytes)
    : g711Silence('pcmu')
}

const converse = async (engine: VoiceEngine): Promise<void> => {
  const session = await engine.open(
    {
      callId: 'leaks',
      codec: 'pcmu',
      instructions: 'Be brief.',
      greeting: 'Hello there.',
      language: 'en',
      tools: [],
    },
    AbortSignal.timeout(20_000),
  )
  const conversation = new Conversation({
    session,
    codec: 'pcmu',
    agent: {
      language: 'en',
      maxDurationMs: 60_000,
      voicemail: 'hang_up',
      voicemailMessage: '',
    },
    voiceActivity: await createVoiceActivityDetector(),
    listener: {
      onTurn: () => {},
      onHangUp: () => {},
      onOptOut: () => {},
      onVoicemail: () => {},
      onNobody: () => {},
      onDtmf: () => {},
    },
    logger,
  })
  for (let tick = 0; tick < ticks; tick += 1) {
    conversation.tick(heard(tick))
    if (tick % 5 === 0) await delay(10)
  }
  await conversation.finish()
}

const url = server.httpUrl
const engines: readonly VoiceEngine[] = [
  createRealtimeEngine({ url: server.url, logger }),
  createCascadeEngine({
    stt: [{ name: 'env', id: 'stt', kind: 'openai-stt', url }],
    llm: [{ name: 'env', id: 'llm', kind: 'openai-chat', url }],
    tts: [{ name: 'env', id: 'tts', kind: 'openai-tts', url }],
    logger,
  }),
]
const perRound = Math.ceil(Number(process.argv[2] ?? 500) / rounds)

console.log('engine     conversations  heap MB  buffers MB')
for (const engine of engines) {
  for (let round = 1; round <= rounds; round += 1) {
    for (let done = 0; done < perRound; done += atATime)
      await Promise.all(
        Array.from({ length: Math.min(atATime, perRound - done) }, () => converse(engine)),
      )
    await delay(500)
    collect()
    const { heapUsed, external } = process.memoryUsage()
    console.log(
      `${engine.name.padEnd(9)} ${String(round * perRound).padStart(14)} ${(heapUsed / 1e6).toFixed(2).padStart(8)} ${(external / 1e6).toFixed(2).padStart(11)}`,
    )
  }
}
await server.stop()
