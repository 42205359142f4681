import { setTimeout as delay } from 'node:timers/promises'
import { decodeG711, g711FrameBytes, g711Silence } from '../audio/g711.ts'
import { energyOf } from '../audio/level.ts'
import { createSpeechSegmenter } from '../audio/voice-activity-segmenter.ts'
import { createAnswering } from './answering.ts'
import { createBargeIn } from './barge-in.ts'
import type {
  Conversation,
  ConversationFacts,
  ConversationOptions,
  HangUpReason,
} from './conversation-types.ts'
import { createEchoGate } from './echo-gate.ts'
import { createHangUp, longestGoodbyeMs } from './hang-up.ts'
import { asksNeverToBeCalled } from './opt-out-phrases.ts'
import { phrasesFor } from './phrases.ts'
import { createPlayoutQueue } from './playout-queue.ts'
import { createSilencePolicy } from './silence-policy.ts'
import { createSpeechOnsets } from './speech-onsets.ts'
import { createToolRunner } from './tool-runner.ts'
import { parseToolCall, type BuiltInCall } from './tools.ts'
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
/** The engine began to speak, did not finish, and sends nothing. */
const stallLimitMs = 1_500
const maxStalls = 3
/** Agent's frames above this (RMS 100) are voiced. */
const voicedEnergy = 100 ** 2
const turnFlushFrames = 5
const digitPauseMs = 1_500
const maxDigits = 32
/** How long a digit keeps the line: 160 ms as an RTP event (RFC 4733), and a pause. */
const sentDigitMs = 260
/** Calls at least this long are warned before the cap, and given a goodbye. */
const leastWarnedDurationMs = 60_000
const warningBeforeCapMs = 20_000
const leastGoodbyeDurationMs = 20_000
const goodbyeBeforeCapMs = 5_000
/** Silence fed to the engine at the end, so that it takes the last words for finished. */
const closingSilenceFrames = 40
const lastWordsLimitMs = 2_000
const lastWordsPollMs = 20
/** A model that calls tools without end is not asked to go on until the callee has spoken. */
const maxToolsInRow = 20
/** How long an engine may take to notice that somebody has been speaking. */
const noticingMs = 300

/** What ends the call or goes before everything else is heard however much the model has called before. */
const isLastWord = ({ name }: BuiltInCall): boolean => name === 'end_call' || name === 'opt_out'

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
  const tools = createToolRunner(listener.runTool?.bind(listener), (id, result) =>
    session.toolResult(id, result),
  )
  const playout = createPlayoutQueue(({ utteranceId, playedMs, producedMs }) => {
    turns.agentOver(utteranceId, playedMs, producedMs)
    voicemail.played(playedMs, producedMs)
    silencePolicy.agentFinished()
    isGreeting = false
  })

  let frames = 0
  let stalledMs = 0
  let stalls = 0
  let toolsInRow = 0
  let speakingMs = 0
  let isGreeting = true
  let isOptedOut = false
  let reportedOutcome: string | undefined
  let digits = ''
  let digitsQuietMs = 0
  let sendingDigitsMs = 0
  let isOver = false
  let isEngineOver = false
  let finishing: Promise<ConversationFacts> | undefined

  const nowMs = (): number => frames * frameMs

  /** It speaks, presses keys, or waits for a colleague to answer. */
  const isAgentBusy = (): boolean => playout.isBusy || sendingDigitsMs > 0 || transfer.isUnderWay

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

  const optOut = (): void => {
    if (isOptedOut) return
    isOptedOut = true
    listener.onOptOut()
  }

  const runBuiltIn = (call: BuiltInCall, id: string): void => {
    switch (call.name) {
      case 'end_call':
        reportedOutcome = call.outcome
        session.toolResult(id, { ended: true }, false)
        return hangUp.request(isOptedOut ? 'opted_out' : 'agent_ended', {
          awaitsSpeech: false,
          limitMs: longestGoodbyeMs,
        })
      case 'opt_out':
        optOut()
        return session.toolResult(id, { barred: true }, !hangUp.isPending)
      case 'send_dtmf':
        listener.onDtmf(call.digits)
        sendingDigitsMs += call.digits.length * sentDigitMs
        return session.toolResult(id, { sent: true })
      case 'voicemail_detected':
        return answering.voicemailTool(id)
      case 'transfer_call':
        return transfer.request(id)
    }
  }

  const handleToolCall = (event: Extract<VoiceEvent, { type: 'tool_call' }>): void => {
    const parsed = parseToolCall(event.name, event.arguments)
    // Who asked not to be called again has asked it, even if the line went dead with the last word.
    if (isOver) {
      if (parsed.kind === 'built_in' && parsed.call.name === 'opt_out') optOut()
      return
    }
    toolsInRow += 1
    if (parsed.kind === 'built_in' && isLastWord(parsed.call)) runBuiltIn(parsed.call, event.id)
    else if (toolsInRow > maxToolsInRow)
      session.toolResult(
        event.id,
        { error: 'Too many tools in a row: wait for the person.' },
        false,
      )
    else if (parsed.kind === 'built_in') runBuiltIn(parsed.call, event.id)
    else if (parsed.kind === 'invalid') session.toolResult(event.id, { error: parsed.error })
    else tools.start(event.id, event.name, event.arguments)
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
    toolsInRow = 0
  }

  const untold = createUntoldSpeech((startMs) => {
    turns.contactText(startMs, unrecognisedText)
    heardWords()
  })

  const handleContactText = (text: string, startMs: number): void => {
    turns.contactText(startMs, text)
    const isUnderstood = text !== '' && text !== unrecognisedText
    if (isUnderstood && asksNeverToBeCalled(text)) optOut()
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
        return handleToolCall(event)
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
    stalledMs = playout.isDry ? stalledMs + frameMs : 0
    if (stalledMs < stallLimitMs) return
    stalledMs = 0
    stalls += 1
    logger.warn({ stalls }, 'a voice engine stalled in the middle of an utterance')
    if (stalls >= maxStalls) hangUp.now('engine_failed')
    else dropSpeech()
  }

  const watchSilence = (): void => {
    const isContactSpeaking = segmenter.isSpeaking && speakingMs < longestSpeechMs
    const verdict = silencePolicy.tick(!isAgentBusy() && !isContactSpeaking)
    if (hangUp.isPending || voicemail.isDetected) return
    if (verdict === 'prompt') session.say(phrases.areYouThere)
    if (verdict === 'end') sayGoodbye('callee_silent', phrases.goodbye, longestGoodbyeMs)
  }

  const watchDuration = (): void => {
    const leftMs = agent.maxDurationMs - nowMs()
    if (leftMs <= 0) return hangUp.now('duration_cap')
    if (hangUp.isPending || voicemail.isDetected || transfer.isUnderWay) return
    if (leftMs === warningBeforeCapMs && agent.maxDurationMs >= leastWarnedDurationMs) {
      session.say(phrases.timeIsShort)
    }
    if (leftMs === goodbyeBeforeCapMs && agent.maxDurationMs >= leastGoodbyeDurationMs) {
      dropSpeech()
      sayGoodbye('duration_cap', phrases.goodbye, goodbyeBeforeCapMs)
    }
  }

  const watchDigits = (): void => {
    if (digits === '') return
    digitsQuietMs += frameMs
    if (digitsQuietMs < digitPauseMs) return
    session.pressed(digits)
    digits = ''
  }

  const speak = (): Uint8Array => {
    if (bargeIn.isPaused || sendingDigitsMs > 0 || nowMs() <= greetingDelayMs) return silence
    const played = playout.next()
    if (!played) return silence
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
    watchDigits()
    if (tools.tick() && !playout.isBusy && !hangUp.isPending) session.say(phrases.oneMoment)
    if (frames % turnFlushFrames === 0) turns.flush(nowMs())
    const frame = hangUp.reason ? silence : speak()
    hangUp.tick(isAgentBusy())
    sendingDigitsMs = Math.max(0, sendingDigitsMs - frameMs)
    return frame
  }

  /** Until the engine has told every word it heard, but not for ever. */
  const awaitLastWords = async (): Promise<void> => {
    const isSpeaking = segmenter.isSpeaking
    if (isSpeaking || !turns.isSettled) {
      for (let count = 0; count < closingSilenceFrames; count += 1) session.hear(silence)
    }
    const leastMs = isSpeaking ? noticingMs : 0
    for (let waitedMs = 0; waitedMs < lastWordsLimitMs; waitedMs += lastWordsPollMs) {
      if (isEngineOver || hangUp.reason === 'engine_failed') return
      if (turns.isSettled && waitedMs >= leastMs) return
      await delay(lastWordsPollMs)
    }
  }

  const finish = async (): Promise<ConversationFacts> => {
    isOver = true
    dropSpeech()
    voicemail.settle()
    await awaitLastWords()
    const usage = await session.close()
    await eventsTaken
    untold.end()
    turns.end()
    voiceActivity.close()
    return {
      ...(hangUp.reason && { hangUpReason: hangUp.reason }),
      optedOut: isOptedOut,
      voicemail: voicemail.result,
      ...(reportedOutcome !== undefined && { reportedOutcome }),
      usage,
    }
  }

  const eventsTaken = takeEvents()

  return {
    tick,
    heardDigit(digit) {
      if (isOver || digits.length >= maxDigits) return
      digits += digit
      digitsQuietMs = 0
      silencePolicy.heardWords()
    },
    finish: () => (finishing ??= finish()),
  }
}
