import type { VoiceEvent } from '../../voice-engine.ts'
import type { ChatHistory, ToolCall } from './chat-history.ts'
import type { ChatModel } from './chat-model.ts'
import { ProviderError, withRetries } from './provider-error.ts'
import { createSentenceStream } from './sentence-stream.ts'
import { speakable } from './speakable.ts'
import type { Speaker, SpokenUtterance } from './speaker.ts'

/** Has the model answer, one answer at a time, and what it says spoken. */
export interface Answering {
  /** The callee has finished speaking: a silence that lasts too long from now on is filled. */
  expect(): void
  /** The conversation holds something new: an answer follows as soon as nobody is speaking. */
  owe(): void
  /** Somebody spoke, but there is nothing new. */
  goOn(): void
  say(text: string): void
  /** The callee has begun to speak: an answer that nobody has heard anything of is thought over. */
  contactSpeaks(): void
  interrupt(utteranceId: string): void
  toolResult(toolCallId: string, result: unknown, goOn: boolean): void
  /** Nothing more is answered. */
  stop(): void
}

export interface AnsweringOptions {
  readonly model: ChatModel
  readonly speaker: Speaker
  readonly history: ChatHistory
  readonly emit: (event: VoiceEvent) => void
  /** Whether the callee is speaking. */
  isSpeaking(): boolean
  /** Whether the callee is speaking, or their words are outstanding. */
  isHearing(): boolean
  onUsage(usage: { readonly inputTokens: number; readonly outputTokens: number }): void
  /** Nothing helps any more. */
  onFailure(error: ProviderError): void
  readonly signal: AbortSignal
}

/** A silence longer than this is filled. */
const fillAfterMs = 2_000
/** A model that keeps calling tools without an end is stopped. */
const maxSteps = 8
const maxWaitingTexts = 8

interface Task {
  readonly abort: AbortController
  spoken: SpokenUtterance | undefined
  isHeard: boolean
}

interface OpenCall {
  readonly call: ToolCall
  answer(result: { readonly value: unknown; readonly goOn: boolean }): void
}

export const createAnswering = (options: AnsweringOptions): Answering => {
  const { model, speaker, history, emit, signal } = options
  const openCalls = new Map<string, OpenCall>()
  const saying = new Set<Task>()
  let answer: Task | undefined
  let isOwed = false
  let isStopped = false
  let filler: NodeJS.Timeout | undefined

  const createTask = (): Task => {
    const abort = new AbortController()
    if (signal.aborted || isStopped) abort.abort()
    signal.addEventListener('abort', () => abort.abort(), { once: true, signal: abort.signal })
    return { abort, spoken: undefined, isHeard: false }
  }

  const beginUtterance = async (task: Task): Promise<SpokenUtterance> => {
    const spoken = await speaker.begin(task.abort.signal)
    task.spoken = spoken
    return spoken
  }

  const endUtterance = (
    task: Task,
    how: 'end' | 'interrupt' | 'breakOff',
    calls: readonly ToolCall[] = [],
  ): void => {
    const { spoken } = task
    task.spoken = undefined
    if (!spoken) return
    const { utterance, release } = spoken
    utterance[how]()
    history.agentSaid(utterance.id, utterance.text, calls)
    release()
  }

  /** What was begun is cut short by whoever interrupts it; where a server broke, what follows has to be heard after it. */
  const endBroken = (task: Task): void =>
    endUtterance(task, task.abort.signal.aborted ? 'interrupt' : 'breakOff')

  /** One request to the model, spoken as it comes. Returns the tools it calls. */
  const step = async (task: Task): Promise<readonly ToolCall[]> => {
    const { signal: own } = task.abort
    const sentences = createSentenceStream()
    const calls: ToolCall[] = []
    let speaking: Promise<void> = Promise.resolve()

    const speakOn = (sentence: string): void => {
      const words = speakable(sentence)
      if (!/[\p{L}\p{N}]/u.test(words)) return
      speaking = speaking.then(async () => {
        const isFirst = !task.spoken
        const spoken = task.spoken ?? (await beginUtterance(task))
        if (isFirst) emit({ type: 'first_words', utteranceId: spoken.utterance.id })
        task.isHeard = true
        clearTimeout(filler)
        await spoken.speak(words)
      })
      // Awaited below; until then a failure must not count as unhandled.
      speaking.catch(() => undefined)
    }

    try {
      for await (const part of model.answer(history.messages(), own)) {
        if (part.type === 'usage') options.onUsage(part)
        else if (part.type === 'tool_call') calls.push(part)
        else for (const sentence of sentences.push(part.text)) speakOn(sentence)
      }
      for (const sentence of sentences.end()) speakOn(sentence)
      await speaking
      own.throwIfAborted()
    } catch (error) {
      await speaking.catch(() => undefined)
      endBroken(task)
      throw error
    }
    if (!task.spoken && calls.length > 0) history.agentSaid('', '', calls)
    endUtterance(task, 'end', calls)
    return calls
  }

  /** Whether the model is to go on when the tools have answered. */
  const runTools = async (calls: readonly ToolCall[], own: AbortSignal): Promise<boolean> => {
    const answers = await Promise.all(calls.map((call) => callTool(call, own)))
    for (const [index, { value }] of answers.entries()) {
      const call = calls[index]
      if (call) history.toolAnswered(call, value)
    }
    return answers.some(({ goOn }) => goOn)
  }

  const callTool = (call: ToolCall, own: AbortSignal) => {
    const { promise, resolve } = Promise.withResolvers<{ value: unknown; goOn: boolean }>()
    openCalls.set(call.id, { call, answer: resolve })
    // A call without its answer would be refused with everything after it.
    const onAbort = (): void => resolve({ value: { error: 'Interrupted.' }, goOn: false })
    own.addEventListener('abort', onAbort, { once: true })
    emit({ type: 'tool_call', id: call.id, name: call.name, arguments: call.arguments })
    return promise.finally(() => {
      openCalls.delete(call.id)
      own.removeEventListener('abort', onAbort)
    })
  }

  const answerOnce = async (task: Task): Promise<void> => {
    for (let steps = 0; steps < maxSteps; steps += 1) {
      const calls = await step(task)
      if (calls.length === 0 || !(await runTools(calls, task.abort.signal))) return
    }
  }

  const answerAll = async (task: Task): Promise<void> => {
    const { signal: own } = task.abort
    try {
      await withRetries(
        () => answerOnce(task),
        own,
        () => !task.isHeard,
      )
    } catch (error) {
      if (!own.aborted) throw error
    }
  }

  const pump = (): void => {
    if (answer || !isOwed || isStopped || options.isHearing()) return
    isOwed = false
    const task = createTask()
    answer = task
    void answerAll(task)
      .catch((error: unknown) => options.onFailure(asProviderError(error)))
      .finally(() => {
        task.abort.abort()
        if (answer === task) answer = undefined
        pump()
      })
  }

  const sayNow = async (task: Task, text: string): Promise<void> => {
    try {
      const spoken = await beginUtterance(task)
      clearTimeout(filler)
      await spoken.speak(text)
      endUtterance(task, 'end')
    } catch (error) {
      endBroken(task)
      if (!task.abort.signal.aborted) options.onFailure(asProviderError(error))
    }
  }

  const giveUp = (task: Task | undefined): void => {
    task?.abort.abort()
    if (task?.spoken) endUtterance(task, 'interrupt')
  }

  return {
    expect() {
      clearTimeout(filler)
      filler = setTimeout(() => {
        if (!options.isSpeaking() && !signal.aborted) speaker.fill()
      }, fillAfterMs)
    },
    owe() {
      isOwed = true
      pump()
    },
    goOn() {
      if (!answer && !isOwed) clearTimeout(filler)
      pump()
    },
    say(text) {
      if (isStopped || saying.size >= maxWaitingTexts) return
      const task = createTask()
      saying.add(task)
      void sayNow(task, text).finally(() => {
        task.abort.abort()
        saying.delete(task)
      })
    },
    contactSpeaks() {
      clearTimeout(filler)
      if (!answer || answer.isHeard || openCalls.size > 0) return
      giveUp(answer)
      answer = undefined
      isOwed = true
    },
    interrupt(utteranceId) {
      for (const task of [answer, ...saying]) {
        if (task?.spoken?.utterance.id !== utteranceId) continue
        giveUp(task)
        if (task === answer) answer = undefined
      }
      pump()
    },
    toolResult: (toolCallId, value, goOn) => openCalls.get(toolCallId)?.answer({ value, goOn }),
    stop() {
      isStopped = true
      clearTimeout(filler)
      for (const task of [answer, ...saying]) giveUp(task)
    },
  }
}

const asProviderError = (error: unknown): ProviderError =>
  error instanceof ProviderError
    ? error
    : new ProviderError('engine_failed', 'The engine broke.', { cause: error })
