import { after, before } from 'node:test'
import { createSynthesizer } from '../../../audio/flite.ts'
import { encodeG711 } from '../../../audio/g711.ts'
import { silentLogger } from '../../../runtime/logger.ts'
import { describeVoiceEngine } from '../../../../tests/support/conversation/engine-conformance.ts'
import { ScriptedRealtimeServer } from '../scripted/scripted-realtime-server.ts'
import { createCascadeEngine } from './cascade-engine.ts'

const farewellText = 'Thank you for calling. Goodbye.'
const server = new ScriptedRealtimeServer({ vocabulary: [farewellText], logger: silentLogger })
const farewell = createSynthesizer().synthesize(farewellText, 'kal').samples

before(() => server.start())
after(() => server.stop())

describeVoiceEngine('cascade against the scripted servers', {
  engine: () => {
    const url = server.httpUrl
    return createCascadeEngine({
      stt: [{ name: 'env', id: 'stt', kind: 'openai-stt', url }],
      llm: [{ name: 'env', id: 'llm', kind: 'openai-chat', url }],
      tts: [{ name: 'env', id: 'tts', kind: 'openai-tts', url }],
      logger: silentLogger,
    })
  },
  farewell: (codec) => encodeG711(codec, farewell),
  farewellText,
})
