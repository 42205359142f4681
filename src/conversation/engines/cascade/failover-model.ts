import type { ChatModel } from './chat-model.ts'
import { streamOfFirst } from './providers/first-part.ts'
import type { Lineup } from './providers/lineup.ts'

/** A callee waits for the reply meanwhile: another provider that works is faster than patience. */
const patienceMs = 2_000

/** Several chat models as one. */
export const createFailoverModel = (lineup: Lineup<ChatModel>): ChatModel => ({
  reply: (messages, signal) =>
    streamOfFirst(
      lineup,
      (model, either) => model.reply(messages, either),
      { patienceMs, timeoutCode: 'model_timeout' },
      signal,
    ),
})
