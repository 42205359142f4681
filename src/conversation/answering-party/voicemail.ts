import { frameMs } from '../../audio/frame.ts'
import { sharesWords } from './shares-words.ts'

export interface VoicemailSettings {
  readonly voicemail: 'hang_up' | 'leave_message'
  /** Said after the beep where `voicemail` is `leave_message`. */
  readonly voicemailMessage: string
}

/** Of an utterance that is over: how much of what there was of it was played. */
interface PlayedUtterance {
  readonly utteranceId: string
  readonly playedMs: number
  readonly producedMs: number
}

export type VoicemailResult = 'none' | 'message_left' | 'skipped'

export interface VoicemailActions {
  /** A machine answered: from now on the call only leaves the message and ends. */
  onDetected(): void
  /** Stops what the agent is saying. */
  silenceAgent(): void
  say(text: string): void
  hangUp(): void
  onVoicemail(messageLeft: boolean): void
}

/** No beep was heard, but the machine has been silent for this long, so it is recording. */
const recordingSilenceMs = 2_000
const longestGreetingMs = 30_000
/**
 * After the beep the engine may still reply to the greeting: that reply is dropped, and then the
 * message is said.
 */
const settlingMs = 400
/** An engine that has not begun its message by then will not begin it. */
const messageDelayLimitMs = 5_000
/** Longer than any recorder accepts; the agent's cap is usually shorter. */
const longestMessageMs = 180_000
/** When the last frame was sent, the last packets are still on their way. */
const tailMs = 300
/** A message counts as left when the machine recorded half of it. */
const leftPart = 0.5
/**
 * A beep this soon after the start of the message is the real one: the message is said once more.
 */
const lateBeepMs = 8_000

type State = 'none' | 'waiting' | 'settling' | 'speaking' | 'over'

/**
 * Handles a machine that answered: waits for its beep and leaves the message. The detection is
 * elsewhere.
 */
export class Voicemail {
  readonly #message: string
  readonly #leavesMessage: boolean
  readonly #actions: VoicemailActions
  #state: State = 'none'
  #stateMs = 0
  #quietMs = 0
  #hasSpoken = false
  /** What the machine recorded so far was a late reply to its greeting, and the message is still to come. */
  #isMessageAhead = false
  /** The words of the utterance that the engine reported last. */
  #lastSaid: { readonly utteranceId: string; readonly text: string } | undefined
  #hasRestarted = false
  #isMessageLeft = false
  #isSettled = false

  constructor({ voicemail, voicemailMessage }: VoicemailSettings, actions: VoicemailActions) {
    this.#message = voicemailMessage
    this.#leavesMessage = voicemail === 'leave_message' && voicemailMessage.trim() !== ''
    this.#actions = actions
  }

  /** Whether the agent must be silent, because the machine speaks or the beep is still to come. */
  get isWaiting(): boolean {
    return this.#state === 'waiting' || this.#state === 'settling'
  }

  /** Whether the engine no longer hears the machine, because it records. */
  get isRecording(): boolean {
    return this.#state !== 'none' && this.#state !== 'waiting'
  }

  get isDetected(): boolean {
    return this.#state !== 'none'
  }

  get result(): VoicemailResult {
    if (this.#state === 'none') return 'none'
    return this.#isMessageLeft ? 'message_left' : 'skipped'
  }

  /**
   * A machine answered. After a beep it records; otherwise its beep is still to come. More beeps
   * may follow.
   */
  detected(by: 'beep' | 'other'): void {
    if (this.#state === 'none') this.#begin(by)
    else if (this.#state === 'waiting' && by === 'beep') this.#enter('settling')
    else if (this.#state === 'speaking' && by === 'beep') this.#hearLateBeep()
  }

  /** One tick. `isBusy`: the agent has something to say. */
  tick(isContactVoiced: boolean, isBusy: boolean): void {
    this.#stateMs += frameMs
    if (this.#state === 'waiting') this.#tickWaiting(isContactVoiced)
    else if (this.#state === 'settling' && this.#stateMs >= settlingMs) this.#speak()
    else if (this.#state === 'speaking') this.#tickSpeaking(isBusy)
  }

  /** The engine reported the words of this utterance. */
  agentSaid(utteranceId: string, text: string): void {
    this.#lastSaid = { utteranceId, text }
  }

  /** This utterance is over, and this much of it was played. One of unknown words is taken for the message. */
  played({ utteranceId, playedMs, producedMs }: PlayedUtterance): void {
    if (this.#state !== 'speaking') return
    const said = this.#lastSaid?.utteranceId === utteranceId ? this.#lastSaid.text : this.#message
    this.#isMessageAhead = !sharesWords(said, this.#message)
    if (this.#isMessageAhead) return
    if (playedMs >= producedMs * leftPart) this.#isMessageLeft = true
  }

  /** The call is over: reports the result if a machine had answered. Safe twice. */
  settle(): void {
    if (this.#state === 'none' || this.#isSettled) return
    this.#isSettled = true
    this.#actions.onVoicemail(this.#isMessageLeft)
  }

  #enter(next: State): void {
    this.#state = next
    this.#stateMs = 0
    this.#quietMs = 0
  }

  #begin(by: 'beep' | 'other'): void {
    this.#enter(by === 'beep' ? 'settling' : 'waiting')
    this.#actions.onDetected()
    this.#actions.silenceAgent()
    if (!this.#leavesMessage) this.#end()
  }

  #speak(): void {
    this.#enter('speaking')
    this.#hasSpoken = false
    this.#isMessageAhead = false
    this.#actions.say(this.#message)
  }

  #hearLateBeep(): void {
    if (this.#hasRestarted || this.#stateMs > lateBeepMs) return
    this.#hasRestarted = true
    // Called before the speech is dropped: speech played before the beep is not part of the
    // message.
    this.#enter('settling')
    this.#actions.silenceAgent()
  }

  #tickWaiting(isContactVoiced: boolean): void {
    this.#quietMs = isContactVoiced ? 0 : this.#quietMs + frameMs
    if (this.#quietMs >= recordingSilenceMs || this.#stateMs >= longestGreetingMs) this.#speak()
  }

  #tickSpeaking(isBusy: boolean): void {
    this.#quietMs = isBusy ? 0 : this.#quietMs + frameMs
    this.#hasSpoken ||= isBusy
    const awaitedMs = this.#isMessageAhead ? messageDelayLimitMs : tailMs
    const isSaid = this.#hasSpoken && this.#quietMs >= awaitedMs
    const isMute = !this.#hasSpoken && this.#stateMs >= messageDelayLimitMs
    if (isSaid || isMute || this.#stateMs >= longestMessageMs) this.#end()
  }

  #end(): void {
    this.#enter('over')
    this.#actions.hangUp()
  }
}
