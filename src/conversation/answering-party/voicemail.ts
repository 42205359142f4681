import { frameMs } from '../../audio/frame.ts'

export interface VoicemailSettings {
  readonly voicemail: 'hang_up' | 'leave_message'
  /** Said after the beep where `voicemail` is `leave_message`. */
  readonly voicemailMessage: string
}

export type VoicemailResult = 'none' | 'message_left' | 'skipped'

/** What is done once a machine answered. Whether one did is not judged here. */
export interface Voicemail {
  /** By a beep, after which it records; by anything else its beep is still to come. More beeps may follow. */
  detected(by: 'beep' | 'other'): void
  /** One tick. `isBusy`: the agent has something to say. */
  tick(isContactVoiced: boolean, isBusy: boolean): void
  /** So much of what is said now was played. */
  played(playedMs: number, producedMs: number): void
  /** The call is over: tells the listener how it went, if a machine had answered. Safe twice. */
  settle(): void
  /** Whether the agent is to be silent: a machine speaks, or the beep is still to come. */
  readonly isWaiting: boolean
  /** Whether the machine has nothing to tell the engine any more: it records. */
  readonly isRecording: boolean
  readonly isDetected: boolean
  readonly result: VoicemailResult
}

export interface VoicemailActions {
  /** A machine answered: the call is about nothing else from now on. */
  onDetected(): void
  /** Whatever the agent is saying is to stop. */
  silenceAgent(): void
  say(text: string): void
  hangUp(): void
  onVoicemail(messageLeft: boolean): void
}

/** No beep was heard, but the machine has been silent for this long: it is recording. */
const recordingSilenceMs = 2_000
const longestGreetingMs = 30_000
/** After the beep the engine may still answer the greeting by itself; that is dropped, and then the message is said. */
const settlingMs = 400
/** An engine that has not begun its message by then will not. */
const messageDelayLimitMs = 5_000
/** More than any recorder takes; the agent's cap is usually shorter. */
const longestMessageMs = 180_000
/** The last packets are still on their way when the last frame was sent. */
const tailMs = 300
/** A message of which the machine took half counts as left. */
const leftPart = 0.5
/** A beep so soon after the message began is the real one: the message is said again, once. */
const lateBeepMs = 8_000

export const createVoicemail = (
  { voicemail, voicemailMessage }: VoicemailSettings,
  actions: VoicemailActions,
): Voicemail => {
  let state: 'none' | 'waiting' | 'settling' | 'speaking' | 'over' = 'none'
  let stateMs = 0
  let quietMs = 0
  let hasSpoken = false
  let hasRestarted = false
  let isMessageLeft = false
  let isSettled = false
  const leavesMessage = voicemail === 'leave_message' && voicemailMessage.trim() !== ''

  const enter = (next: typeof state): void => {
    state = next
    stateMs = 0
    quietMs = 0
  }

  const end = (): void => {
    enter('over')
    actions.hangUp()
  }

  const speak = (): void => {
    enter('speaking')
    hasSpoken = false
    actions.say(voicemailMessage)
  }

  const begin = (by: 'beep' | 'other'): void => {
    enter(by === 'beep' ? 'settling' : 'waiting')
    actions.onDetected()
    actions.silenceAgent()
    if (!leavesMessage) end()
  }

  const hearLateBeep = (): void => {
    if (hasRestarted || stateMs > lateBeepMs) return
    hasRestarted = true
    // Before the speech is dropped: what was played of it before the beep is no message.
    enter('settling')
    actions.silenceAgent()
  }

  const tickWaiting = (isContactVoiced: boolean): void => {
    quietMs = isContactVoiced ? 0 : quietMs + frameMs
    if (quietMs >= recordingSilenceMs || stateMs >= longestGreetingMs) speak()
  }

  const tickSpeaking = (isBusy: boolean): void => {
    quietMs = isBusy ? 0 : quietMs + frameMs
    hasSpoken ||= isBusy
    const isOver = hasSpoken ? quietMs >= tailMs : stateMs >= messageDelayLimitMs
    if (isOver || stateMs >= longestMessageMs) end()
  }

  return {
    detected(by) {
      if (state === 'none') begin(by)
      else if (state === 'waiting' && by === 'beep') enter('settling')
      else if (state === 'speaking' && by === 'beep') hearLateBeep()
    },
    tick(isContactVoiced, isBusy) {
      stateMs += frameMs
      if (state === 'waiting') tickWaiting(isContactVoiced)
      else if (state === 'settling' && stateMs >= settlingMs) speak()
      else if (state === 'speaking') tickSpeaking(isBusy)
    },
    played(playedMs, producedMs) {
      if (state === 'speaking' && playedMs >= producedMs * leftPart) isMessageLeft = true
    },
    settle() {
      if (state === 'none' || isSettled) return
      isSettled = true
      actions.onVoicemail(isMessageLeft)
    },
    get isWaiting() {
      return state === 'waiting' || state === 'settling'
    },
    get isRecording() {
      return state !== 'none' && state !== 'waiting'
    },
    get isDetected() {
      return state !== 'none'
    },
    get result() {
      if (state === 'none') return 'none'
      return isMessageLeft ? 'message_left' : 'skipped'
    },
  }
}
