import type { ModelMessage } from 'ai'
import type { TokenUsage, VoiceEvent } from '../../engine/voice-engine.ts'
import type { ChatHistory, ToolCall } from './chat-history.ts'
import type { ChatModel } from './chat-model.ts'
import { createSentenceStream } from './sentence-stream.ts'
import { speakable } from './speakable.ts'
import type { PendingSpeech } from './pending-speech.ts'
import type { Speaker } from './speaker.ts'
import type { SpeakingTask } from './speaking-task.ts'

interface ReplyStepOptions {
  readonly model: ChatModel
  readonly speaker: Speaker
  readonly history: ChatHistory
  /** What the model is told. */
  readonly messages: readonly ModelMessage[]
  /** Until it resolves the reply is a guess: nothing is heard of it, and no tool is called. */
  readonly confirmed: Promise<void>
  readonly emit: (event: VoiceEvent) => void
  readonly onUsage: (usage: TokenUsage) => void
  /** The callee is about to hear part of the reply. */
  readonly onHeard: () => void
}

/** So many sentences are synthesized before the one that sounds has ended. */
const maxAhead = 2

/** One request to the model, spoken as its sentences arrive. Resolves with the tools it calls. */
export const speakReply = async (
  task: SpeakingTask,
  options: ReplyStepOptions,
): Promise<readonly ToolCall[]> => {
  const { model, history, onUsage, speaker, confirmed } = options
  const sentences = createSentenceStream()
  const calls: ToolCall[] = []
  let speaking: Promise<void> = Promise.resolve()
  let ahead = 0

  const speakOn = (sentence: string): void => {
    const words = speakable(sentence)
    if (!/[\p{L}\p{N}]/u.test(words)) return
    const speech = speaker.speech(words, task.signal, ahead < maxAhead)
    ahead += 1
    speaking = speaking.then(async () => {
      await speakSentence(task, speech, options)
      ahead -= 1
    })
    // Awaited below; until then a failure must not count as unhandled.
    speaking.catch(() => undefined)
  }

  try {
    for await (const part of model.reply(options.messages, task.signal)) {
      if (part.type === 'usage') onUsage(part)
      else if (part.type === 'tool_call') calls.push(part)
      else for (const sentence of sentences.push(part.text)) speakOn(sentence)
    }
    for (const sentence of sentences.end()) speakOn(sentence)
    await speaking
    await confirmed
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
  speech: PendingSpeech,
  { emit, onHeard, confirmed }: ReplyStepOptions,
): Promise<void> => {
  await confirmed
  const isFirst = task.utteranceId === undefined
  const spoken = await task.begin()
  if (isFirst) emit({ type: 'first_words', utteranceId: spoken.utterance.id })
  await spoken.speak(speech, onHeard)
}
