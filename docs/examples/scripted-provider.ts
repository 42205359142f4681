/**
 * A model without weights behind the interfaces of OpenAI, for trying out agents and engines without a provider:
 * `npm run scripted-provider -- 4100`. It understands what the people of the sandbox carrier say.
 */
import { ScriptedRealtimeServer } from '../../src/conversation/engines/scripted/scripted-realtime-server.ts'
import { createLogger } from '../../src/runtime/logger.ts'
import { personaVocabulary } from '../../src/telephony/sandbox/personas.ts'

const server = new ScriptedRealtimeServer({
  vocabulary: personaVocabulary,
  port: Number(process.argv[2] ?? 4100),
  logger: createLogger('warn'),
})
await server.start()
process.stdout.write(`Realtime: ${server.url}\nHTTP:     ${server.httpUrl}\n`)
