import { frameMs } from '../../audio/frame.ts'
import { g711Silence } from '../../audio/g711.ts'
import { AgentSpeech } from './agent-speech.ts'
import { AgentTools } from './agent-tools.ts'
import { createBargeIn } from './barge-in.ts'
import { AnsweringParty } from '../answering-party/answering-party.ts'
import { CallTurns } from './call-turns.ts'
import { CalleeSpeech } from './callee-speech.ts'
import type { ConversationFacts, ConversationOptions, PartialTurn } from './conversation-types.ts'
import { createFirstWordsGate } from './first-words.ts'
import { HangUp } from './hang-up.ts'
import { createKeypad, type Keypad } from './keypad.ts'
import { awaitLastWords } from './last-words.ts'
import { asksNeverToBeCalled } from '../tools/opt-out-phrases.ts'
import { CallPhase } from './phases.ts'
import { phrasesFor } from '../engine/phrases.ts'
import type { PlayedUtterance } from './playout-queue.ts'
import { Prompts } from './prompts.ts'
import { createStallWatch } from './stall-watch.ts'
import { createTransfer, type Transfer } from './transfer.ts'
import { TurnTaking } from './turn-taking.ts'
import { usualTurnTaking } from '../turn-taking/turn-taking-settings.ts'
import { unrecognisedText } from '../../call-text/unrecognised-text.ts'
import type { LoopTurns, VoiceEvent, VoiceSession } from '../engine/voice-engine.ts'

const turnFlushFrames = 5

/**
 * The live loop of one call, with any engine: takes the heard audio and returns the audio to send,
 * 20 ms at a time. It has no timers of its own and costs a few microseconds per tick. `phases.ts`
 * states what is allowed when.
 */
export class Conversation {
  readonly #options: ConversationOptions
  readonly #session: VoiceSession
  readonly #silence: Uint8Array
  readonly #phase = new CallPhase()
  readonly #callee: CalleeSpeech
  readonly #agent: AgentSpeech
  readonly #hangUp: HangUp
  readonly #prompts: Prompts
  readonly #turns: CallTurns
  readonly #party: AnsweringParty
  readonly #transfer: Transfer
  readonly #keypad: Keypad
  readonly #tools: AgentTools
  /** Absent where the engine finds the ends of turns itself. */
  readonly #taking: TurnTaking | undefined
  readonly #firstWords
  readonly #stalls = createStallWatch()
  readonly #eventsTaken: Promise<void>
  #frames = 0
  #isEngineOver = false
  #finishing: Promise<ConversationFacts> | undefined

  constructor(options: ConversationOptions) {
    const { session, codec, agent, listener } = options
    const phrases = phrasesFor(agent.language)
    this.#options = options
    this.#session = session
    this.#silence = g711Silence(codec)
    this.#callee = new CalleeSpeech(codec, options.voiceActivity)
    this.#firstWords = createFirstWordsGate(agent.turnTaking?.firstWords ?? 'agent')
    this.#taking = session.loopTurns && this.#takeTurns(session.loopTurns)
    this.#agent = new AgentSpeech({
      codec,
      session,
      bargeIn: this.#taking ?? createBargeIn(),
      isLoopsTurn: this.#taking !== undefined,
      logger: options.logger,
      onPlayed: (utteranceId, isVoiced) => this.#agentPlayed(utteranceId, isVoiced),
      onOver: (utterance, isWhole) => this.#agentOver(utterance, isWhole),
    })
    this.#turns = new CallTurns({
      listener,
      onsetNear: (engineMs) => this.#callee.onsetNear(engineMs),
      onUntranscribedSpeech: () => this.#calleeUnderstood(),
    })
    if (this.#taking) this.#turns.ownedByLoop()
    this.#hangUp = new HangUp(this.#phase, (reason) => {
      this.#party.voicemail.settle()
      listener.onHangUp(reason)
    })
    this.#prompts = new Prompts({
      phase: this.#phase,
      hangUp: this.#hangUp,
      phrases,
      maxDurationMs: agent.maxDurationMs,
      say: (text) => session.say(text),
      silenceAgent: () => this.#silenceAgent(),
      onAsked: () => this.#taking?.asked(),
    })
    this.#party = new AnsweringParty(agent, {
      silenceAgent: () => this.#silenceAgent(),
      say: (text) => session.say(text),
      hangUp: (reason) => this.#hangUp.now(reason),
      onDetected: () => this.#phase.enter('voicemail'),
      onVoicemail: (messageLeft) => listener.onVoicemail(messageLeft),
      onNobody: (kind) => listener.onNobody(kind),
      onScreening: () => this.#phase.screened(),
      sendToolResult: (id, result, goOn) => this.#sendToolResult(id, result, goOn),
    })
    this.#transfer = createTransfer({
      phase: this.#phase,
      ask: listener.transfer?.bind(listener),
      sendToolResult: (id, result, goOn) => this.#sendToolResult(id, result, goOn),
      onTransferred: () => this.#hangUp.now('transferred'),
    })
    this.#keypad = createKeypad((digits) => session.pressed(digits))
    this.#tools = new AgentTools({
      session,
      phase: this.#phase,
      pardon: phrases.pardon,
      listener,
      hangUp: this.#hangUp,
      party: this.#party,
      transfer: this.#transfer,
      keypad: this.#keypad,
    })
    this.#eventsTaken = this.#takeEvents()
  }

  /**
   * One tick of 20 ms, from the answer on: takes the 160 bytes of G.711 heard in it (silence where
   * no packet came), returns the 160 bytes to send in it. They are valid until the next tick. Tick
   * number × 20 ms is the recording clock.
   */
  tick(heard: Uint8Array): Uint8Array {
    if (this.#finishing) return this.#silence
    this.#frames += 1
    this.#listen(this.#phase.isHeld ? this.#silence : heard)
    if (this.#phase.isHeld) this.#watchHeld()
    else if (!this.#phase.isOver) this.#watch()
    if (this.#frames % turnFlushFrames === 0) this.#turns.flush(this.#nowMs)
    if (this.#phase.isOver || this.#phase.isHeld) return this.#silence
    const frame = this.#speak()
    this.#hangUp.tick(this.#isAgentBusy)
    this.#keypad.tick()
    return frame
  }

  /** The callee holds the line, or took it back: until then the conversation pauses. Repeats change nothing. */
  hold(isHeld: boolean): void {
    if (!this.#phase.hold(isHeld)) return
    if (isHeld) return this.#turns.held()
    this.#prompts.resumed()
    this.#agent.sayAgain()
  }

  /** The agent's words of this moment: what was heard of the turn that it is speaking. */
  agentWords(): PartialTurn | undefined {
    return this.#turns.agentWords(this.#agent.playing)
  }

  /** The callee pressed a key (RFC 4733). The agent is told. */
  heardDigit(digit: string): void {
    if (this.#finishing || this.#phase.isHeld || !this.#keypad.heard(digit)) return
    this.#prompts.calleeUnderstood()
    this.#phase.heardWords()
  }

  /**
   * The call is over, whichever side ended it: waits for the last words at most two seconds, closes
   * the engine session, delivers the remaining turns, and reports the result. Safe twice. No
   * callback runs after it has resolved.
   */
  finish(): Promise<ConversationFacts> {
    return (this.#finishing ??= this.#finish())
  }

  get #nowMs(): number {
    return this.#frames * frameMs
  }

  /** The agent speaks, sends digits, or waits for a colleague to answer. */
  get #isAgentBusy(): boolean {
    return this.#agent.isBusy || this.#keypad.isSending || this.#transfer.isUnderWay
  }

  #takeTurns(engine: LoopTurns): TurnTaking {
    const { language, turnTaking = usualTurnTaking, hasGreeting = true } = this.#options.agent
    const onTurnOver = (): void => this.#turns.turnOver()
    return new TurnTaking({ settings: turnTaking, language, hasGreeting, engine, onTurnOver })
  }

  #listen(heard: Uint8Array): void {
    const callee = this.#callee
    callee.hear(heard)
    const isEcho = this.#agent.hear(callee)
    const isForEngine = this.#taking?.hear(callee, isEcho, this.#agent.isBusy, this.#isGreeting)
    const isKept = isForEngine === false || (this.#taking && this.#agent.isEchoOfLine)
    this.#session.hear(this.#isEngineDeaf || isKept ? this.#silence : heard)
    if (callee.isVoiced) this.#turns.heardVoice()
    if (this.#firstWords.push(callee.isVoiced)) return
    this.#agent.wait(1)
  }

  get #isGreeting(): boolean {
    return this.#phase.name === 'greeting'
  }

  get #isEngineDeaf(): boolean {
    const { engineHears } = this.#phase.rules
    if (engineHears === 'callee_until_recording') return this.#party.voicemail.isRecording
    return engineHears === 'silence'
  }

  #watch(): void {
    const callee = this.#callee
    this.#party.listen(callee.samples, callee.isVoiced)
    this.#agent.giveWay(callee, this.#phase.rules.interruptedAfterMs)
    this.#party.tick(callee.isVoiced, this.#isAgentBusy)
    this.#transfer.tick(this.#isAgentBusy)
    this.#watchEngine()
    this.#prompts.watchSilence(!this.#isAgentBusy && (!callee.isSpeaking || callee.isNoise))
    this.#prompts.watchDuration(this.#nowMs)
    this.#taking?.tick(this.#isAgentBusy)
    if (this.#tools.tick() && !this.#agent.isBusy) this.#prompts.toolIsSlow()
  }

  /** What goes on while the callee is away: the cap of the call, running tools, and the end of a finished goodbye. */
  #watchHeld(): void {
    this.#agent.giveWay(this.#callee, this.#phase.rules.interruptedAfterMs)
    this.#prompts.watchDuration(this.#nowMs)
    this.#tools.tick()
    if (this.#hangUp.isSpeechOver && !this.#isAgentBusy) this.#hangUp.tick(false)
  }

  #watchEngine(): void {
    const verdict = this.#stalls.tick(this.#agent.isDry)
    if (verdict === undefined) return
    this.#options.logger.warn({ verdict }, 'a voice engine stalled in the middle of an utterance')
    if (verdict === 'fail') this.#hangUp.now('engine_failed')
    else this.#silenceAgent()
  }

  #speak(): Uint8Array {
    if (this.#keypad.isSending) return this.#silence
    return this.#agent.next() ?? this.#silence
  }

  async #takeEvents(): Promise<void> {
    try {
      for await (const event of this.#session.events) this.#take(event)
    } catch (error) {
      const message = 'the events of a voice engine could not be handled'
      this.#options.logger.error({ err: error }, message)
    }
    this.#isEngineOver = true
    this.#hangUp.now('engine_failed')
  }

  #take(event: VoiceEvent): void {
    this.#turns.take(event)
    switch (event.type) {
      case 'audio':
        return this.#agent.take(event.utteranceId, event.g711, this.#mayBegin)
      case 'audio_end':
        return this.#agent.end(event.utteranceId)
      case 'speech_start':
        this.#taking?.speechStarted()
        return this.#party.speechStarted()
      case 'speech_stop':
        return this.#taking?.speechStopped()
      case 'agent_text':
        this.#party.voicemail.agentSaid(event.utteranceId, event.text)
        return this.#taking?.agentSaid(event.text)
      case 'contact_text':
        return this.#contactText(event.text, event.startMs)
      case 'tool_call':
        return this.#tools.called(event)
      case 'error':
        if (event.fatal) this.#hangUp.now('engine_failed')
        return undefined
      case 'first_words':
        return undefined
    }
  }

  /** Whether the agent may begin an utterance now. */
  get #mayBegin(): boolean {
    switch (this.#phase.rules.mayBegin) {
      case 'anything':
        return true
      case 'message':
        return !this.#party.voicemail.isWaiting
      case 'goodbye':
        return !this.#hangUp.isSpeechOver
      case 'nothing':
        return false
    }
  }

  #contactText(text: string, startMs: number): void {
    const verdict = this.#taking?.heardWords(text, startMs, this.#agent) ?? 'turn'
    if (verdict === 'aside') this.#turns.aside(startMs)
    if (verdict === 'ignored') this.#turns.dismiss(startMs)
    const isUnderstood = text !== '' && text !== unrecognisedText && verdict !== 'ignored'
    if (isUnderstood && asksNeverToBeCalled(text)) this.#tools.optOut()
    if (this.#phase.isOver) return
    if (isUnderstood) this.#calleeUnderstood()
    this.#party.contactText(text)
  }

  #calleeUnderstood(): void {
    this.#prompts.calleeUnderstood()
    this.#callee.wordsUnderstood()
    this.#tools.heardWords()
    this.#phase.heardWords()
  }

  #agentPlayed(utteranceId: string, isVoiced: boolean): void {
    this.#prompts.agentPlayed()
    this.#turns.agentPlayed(utteranceId, this.#nowMs - frameMs, isVoiced)
  }

  #agentOver(utterance: PlayedUtterance, isWhole: boolean): void {
    this.#turns.agentOver(utterance)
    this.#party.voicemail.played(utterance)
    if (isWhole) this.#prompts.agentFinished()
    this.#phase.greeted()
  }

  #silenceAgent(): void {
    this.#agent.drop()
    this.#phase.greeted()
  }

  #sendToolResult(id: string, result: unknown, goOn: boolean): void {
    if (!this.#phase.isOver) this.#session.toolResult(id, result, goOn)
  }

  async #finish(): Promise<ConversationFacts> {
    this.#phase.enter('over')
    this.#agent.drop()
    this.#party.voicemail.settle()
    await awaitLastWords({
      isSpeaking: this.#callee.isSpeaking,
      hearSilence: () => this.#session.hear(this.#silence),
      isSettled: () => this.#turns.isSettled,
      isEngineOver: () => this.#isEngineOver || this.#hangUp.reason === 'engine_failed',
    })
    const usage = await this.#session.close()
    await this.#eventsTaken
    this.#turns.end()
    this.#callee.close()
    const { reason } = this.#hangUp
    const { isOptedOut, reportedOutcome } = this.#tools
    return {
      ...(reason && { hangUpReason: reason }),
      optedOut: isOptedOut,
      voicemail: this.#party.voicemail.result,
      ...(reportedOutcome !== undefined && { reportedOutcome }),
      usage,
    }
  }
}
