import type { VoiceEvent } from '../../engine/voice-engine.ts'
import type { ChatHistory, ToolCall } from './chat-history.ts'
import type { ChatModel } from './chat-model.ts'
import { createSentenceStream } from './sentence-stream.ts'
import { speakable } from './speakable.ts'
import type { SpeakingTask } from './speaking-task.ts'

interface ReplyStepOptions {
  readonly model: ChatModel
  readonly history: ChatHistory
  readonly emit: (event: VoiceEvent) => void
  readonly onUsage: (usage: { readonly inputTokens: number; readonly outputTokens: number }) => void
  /** The callee is about to hear part of the reply. */
  readonly onHeard: () => void
}

/** One request to the model, spoken as its sentences arrive. Resolves with the tools it calls. */
export const speakReply = async (
  task: SpeakingTask,
  options: ReplyStepOptions,
): Promise<readonly ToolCall[]> => {
  const { model, history, onUsage } = options
  const sentences = createSentenceStream()
  const calls: ToolCall[] = []
  let speaking: Promise<void> = Promise.resolve()

  const speakOn = (sentence: string): void => {
    const words = speakable(sentence)
    if (!/[\p{L}\p{N}]/u.test(words)) return
    speaking = speaking.then(() => speakSentence(task, words, options))
    // Awaited below; until then a failure must not count as unhandled.
    speaking.catch(() => undefined)
  }

  try {
    for await (const part of model.reply(history.messages(), task.signal)) {
      if (part.type === 'usage') onUsage(part)
      else if (part.type === 'tool_call') calls.push(part)
      else for (const sentence of sentences.push(part.text)) speakOn(sentence)
    }
    for (const sentence of sentences.end()) speakOn(sentence)
    await speaking
    task.signal.throwIfAborted()
  } catch (error) {
    await speaking.catch(() => undefined)
    task.fail()
    throw error
  }
  if (task.utteranceId === undefined && calls.length > 0) history.agentSaid('', '', calls)
  task.end(calls)
  return calls
}

const speakSentence = async (
  task: SpeakingTask,
  words: string,
  { emit, onHeard }: ReplyStepOptions,
): Promise<void> => {
  const isFirst = task.utteranceId === undefined
  const spoken = await task.begin()
  if (isFirst) emit({ type: 'first_words', utteranceId: spoken.utterance.id })
  onHeard()
  await spoken.speak(words)
}
