import { decodeG711, g711FrameBytes, g711Silence } from '../audio/g711.ts'
import { energyOf } from '../audio/level.ts'
import { createSpeechSegmenter } from '../audio/voice-activity-segmenter.ts'
import { createAgentTools } from './agent-tools.ts'
import { createAnswering } from './answering.ts'
import { createBargeIn } from './barge-in.ts'
import type {
  Conversation,
  ConversationFacts,
  ConversationOptions,
  HangUpReason,
} from './conversation-types.ts'
import { goodbyeBeforeCapMs, judgeDuration } from './duration-policy.ts'
import { createEchoGate } from './echo-gate.ts'
import { createHangUp, longestGoodbyeMs } from './hang-up.ts'
import { createKeypad } from './keypad.ts'
import { awaitLastWords } from './last-words.ts'
import { asksNeverToBeCalled } from './opt-out-phrases.ts'
import { phrasesFor } from './phrases.ts'
import { createPlayoutQueue } from './playout-queue.ts'
import { createSilencePolicy } from './silence-policy.ts'
import { createSpeechOnsets } from './speech-onsets.ts'
import { createStallWatch } from './stall-watch.ts'
import { createTransfer } from './transfer.ts'
import { createTurnLatencyMeter } from './turn-latency.ts'
import { createTurnLog } from './turn-log.ts'
import { createUntoldSpeech } from './untold-speech.ts'
import { unrecognisedText, type VoiceEvent } from './voice-engine.ts'

const frameMs = 20
/** The path of the media may take a moment to open; the first word must not be lost in it. */
const greetingDelayMs = 100
/** An interruption takes 200 ms of speech; a greeting stands a "Hello?" spoken into it. */
const commitMs = 200
const greetingCommitMs = 1_000
/** Speech of the callee that goes on longer than this without a word understood is noise. */
const longestSpeechMs = 30_000
/** Agent's frames above this (RMS 100) are voiced. */
const voicedEnergy = 100 ** 2
const turnFlushFrames = 5

/** The live loop of one call, whoever the engine is. Costs a few microseconds per tick. */
export const createConversation = (options: ConversationOptions): Conversation => {
  const { session, codec, agent, voiceActivity, listener, logger } = options
  const phrases = phrasesFor(agent.language)
  const silence = g711Silence(codec)
  const heardSamples = new Int16Array(g711FrameBytes)
  const sentSamples = new Int16Array(g711FrameBytes)
  const segmenter = createSpeechSegmenter({ endSilenceMs: 300 })
  const onsets = createSpeechOnsets()
  const bargeIn = createBargeIn()
  const echo = createEchoGate()
  const silencePolicy = createSilencePolicy()
  const turns = createTurnLog(
    (turn) => listener.onTurn(turn),
    (engineMs) => onsets.nearest(engineMs),
  )
  const latency = createTurnLatencyMeter({
    onLatency: (measured) => listener.onLatency?.(measured),
    onFirstWords: (atMs) => listener.onFirstWords?.(atMs),
  })
  const hangUp = createHangUp((reason) => {
    voicemail.settle()
    listener.onHangUp(reason)
  })
  const answerTool = (id: string, result: unknown, goOn?: boolean): void => {
    if (!isOver) session.toolResult(id, result, goOn)
  }
  const answering = createAnswering(agent, {
    silenceAgent: () => dropSpeech(),
    say: (text) => session.say(text),
    hangUp: (reason) => hangUp.now(reason),
    onVoicemail: (messageLeft) => listener.onVoicemail(messageLeft),
    onNobody: (kind) => listener.onNobody(kind),
    onScreening: () => silencePolicy.expectPause(),
    answerTool,
  })
  const { voicemail } = answering
  const transfer = createTransfer({
    ask: listener.transfer?.bind(listener),
    answerTool,
    onTransferred: () => {
      if (!isOver) hangUp.now('transferred')
    },
  })
  const keypad = createKeypad((digits) => session.pressed(digits))
  const tools = createAgentTools({
    session,
    pardon: phrases.pardon,
    listener,
    hangUp,
    answering,
    transfer,
    keypad,
  })
  const stalls = createStallWatch()
  const playout = createPlayoutQueue(({ utteranceId, playedMs, producedMs }) => {
    turns.agentOver(utteranceId, playedMs, producedMs)
    voicemail.played(playedMs, producedMs)
    silencePolicy.agentFinished()
    isGreeting = false
  })

  let frames = 0
  let speakingMs = 0
  let isPromptUnheard = false
  let isGreeting = true
  let isOver = false
  let isEngineOver = false
  let finishing: Promise<ConversationFacts> | undefined

  const nowMs = (): number => frames * frameMs

  /** It speaks, presses keys, or waits for a colleague to answer. */
  const isAgentBusy = (): boolean => playout.isBusy || keypad.isSending || transfer.isUnderWay

  const dropSpeech = (): void => {
    for (const { utteranceId, playedMs, producedMs } of playout.clear()) {
      session.interrupt(utteranceId, playedMs)
      turns.agentOver(utteranceId, playedMs, producedMs)
      voicemail.played(playedMs, producedMs)
    }
    isGreeting = false
  }

  const sayGoodbye = (reason: HangUpReason, text: string, limitMs: number): void => {
    session.say(text)
    hangUp.request(reason, { awaitsSpeech: true, limitMs })
  }

  const handleAudio = (utteranceId: string, g711: Uint8Array): void => {
    const isLate = (hangUp.isSpeechOver || voicemail.isWaiting) && !playout.has(utteranceId)
    if (isOver || isLate) return session.interrupt(utteranceId, 0)
    if (playout.add(utteranceId, g711)) return
    logger.warn({ utterance_id: utteranceId }, 'the playout queue of a call is full')
    playout.end(utteranceId)
  }

  const heardWords = (): void => {
    silencePolicy.heardWords()
    speakingMs = 0
    tools.heardWords()
  }

  const untold = createUntoldSpeech((startMs) => {
    turns.contactText(startMs, unrecognisedText)
    heardWords()
  })

  const handleContactText = (text: string, startMs: number): void => {
    turns.contactText(startMs, text)
    const isUnderstood = text !== '' && text !== unrecognisedText
    if (isUnderstood && asksNeverToBeCalled(text)) tools.optOut()
    if (isOver) return
    if (isUnderstood) heardWords()
    answering.contactText(text)
  }

  const handle = (event: VoiceEvent): void => {
    latency.took(event)
    switch (event.type) {
      case 'audio':
        return handleAudio(event.utteranceId, event.g711)
      case 'audio_end':
        return playout.end(event.utteranceId)
      case 'agent_text':
        return turns.agentText(event.utteranceId, event.text)
      case 'first_words':
        return undefined
      case 'speech_start':
        answering.speechStarted()
        untold.started(event.atMs)
        return turns.contactStarted(event.atMs)
      case 'speech_stop':
        untold.stopped()
        return turns.contactStopped()
      case 'contact_text':
        untold.told()
        return handleContactText(event.text, event.startMs)
      case 'tool_call':
        return isOver ? tools.calledTooLate(event) : tools.called(event)
      case 'error':
        if (event.fatal && !isOver) hangUp.now('engine_failed')
        return undefined
    }
  }

  const takeEvents = async (): Promise<void> => {
    try {
      for await (const event of session.events) handle(event)
    } catch (error) {
      logger.error({ err: error }, 'the events of a voice engine could not be handled')
    }
    isEngineOver = true
    if (!isOver) hangUp.now('engine_failed')
  }

  const listen = (heard: Uint8Array): boolean => {
    // A machine that records, and a phone that rings for somebody else, are nothing for the engine to answer.
    session.hear(voicemail.isRecording || transfer.isUnderWay ? silence : heard)
    decodeG711(codec, heard, heardSamples)
    const isVoiced = voiceActivity.isVoiced(heardSamples)
    if (isVoiced) latency.heardVoice()
    const boundary = segmenter.push(isVoiced)
    if (boundary?.kind === 'start') onsets.add(boundary.atMs)
    speakingMs = segmenter.isSpeaking ? speakingMs + frameMs : 0
    answering.listen(heardSamples, isVoiced)
    return isVoiced
  }

  const giveWay = (isVoiced: boolean): void => {
    const isInterruptible = !hangUp.isPending && !voicemail.isDetected
    const isHeard = isVoiced && isInterruptible && !echo.isEcho(energyOf(heardSamples))
    const verdict = bargeIn.push(isHeard, playout.isBusy, isGreeting ? greetingCommitMs : commitMs)
    if (verdict === 'commit') dropSpeech()
  }

  const watchEngine = (): void => {
    const verdict = stalls.tick(playout.isDry)
    if (verdict === undefined) return
    logger.warn({ verdict }, 'a voice engine stalled in the middle of an utterance')
    if (verdict === 'fail') hangUp.now('engine_failed')
    else dropSpeech()
  }

  const watchSilence = (): void => {
    const isContactSpeaking = segmenter.isSpeaking && speakingMs < longestSpeechMs
    const verdict = silencePolicy.tick(!isAgentBusy() && !isContactSpeaking)
    if (hangUp.isPending || voicemail.isDetected) return
    if (verdict === 'prompt') {
      isPromptUnheard = true
      session.say(phrases.areYouThere)
    }
    // Not the callee is silent where an engine has not spoken for eight seconds what it was told to.
    if (verdict === 'end' && isPromptUnheard) return hangUp.now('engine_failed')
    if (verdict === 'end') sayGoodbye('callee_silent', phrases.goodbye, longestGoodbyeMs)
  }

  const watchDuration = (): void => {
    const verdict = judgeDuration(nowMs(), agent.maxDurationMs)
    if (verdict === 'end') return hangUp.now('duration_cap')
    if (hangUp.isPending || voicemail.isDetected || transfer.isUnderWay) return
    if (verdict === 'warn') session.say(phrases.timeIsShort)
    if (verdict === 'say_goodbye') {
      dropSpeech()
      sayGoodbye('duration_cap', phrases.goodbye, goodbyeBeforeCapMs)
    }
  }

  const speak = (): Uint8Array => {
    if (bargeIn.isPaused || keypad.isSending || nowMs() <= greetingDelayMs) return silence
    const played = playout.next()
    if (!played) return silence
    isPromptUnheard = false
    const energy = energyOf(decodeG711(codec, played.frame, sentSamples))
    echo.sent(energy)
    const isVoiced = energy >= voicedEnergy
    turns.agentPlayed(played.utteranceId, nowMs() - frameMs, isVoiced)
    latency.played(played.utteranceId, nowMs() - frameMs, isVoiced)
    return played.frame
  }

  const tick = (heard: Uint8Array): Uint8Array => {
    if (isOver) return silence
    frames += 1
    const isVoiced = listen(heard)
    giveWay(isVoiced)
    answering.tick(isVoiced, isAgentBusy())
    transfer.tick(isAgentBusy())
    watchEngine()
    watchSilence()
    watchDuration()
    if (tools.tick() && !playout.isBusy && !hangUp.isPending) session.say(phrases.oneMoment)
    if (frames % turnFlushFrames === 0) turns.flush(nowMs())
    const frame = hangUp.reason ? silence : speak()
    hangUp.tick(isAgentBusy())
    keypad.tick()
    return frame
  }

  const finish = async (): Promise<ConversationFacts> => {
    isOver = true
    dropSpeech()
    voicemail.settle()
    await awaitLastWords({
      isSpeaking: segmenter.isSpeaking,
      hearSilence: () => session.hear(silence),
      isSettled: () => turns.isSettled,
      isEngineOver: () => isEngineOver || hangUp.reason === 'engine_failed',
    })
    const usage = await session.close()
    await eventsTaken
    untold.end()
    turns.end()
    voiceActivity.close()
    return {
      ...(hangUp.reason && { hangUpReason: hangUp.reason }),
      optedOut: tools.isOptedOut,
      voicemail: voicemail.result,
      ...(tools.reportedOutcome !== undefined && { reportedOutcome: tools.reportedOutcome }),
      usage,
    }
  }

  const eventsTaken = takeEvents()

  return {
    tick,
    heardDigit(digit) {
      if (!isOver && keypad.heard(digit)) silencePolicy.heardWords()
    },
    finish: () => (finishing ??= finish()),
  }
}
