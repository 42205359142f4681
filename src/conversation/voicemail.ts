import type { ConversationAgent, ConversationFacts } from './conversation-types.ts'

/** What is done once a machine answered, told by its words or its beep, never by the rhythm of speech alone. */
export interface Voicemail {
  detected(by: 'words' | 'beep'): void
  /** One tick. */
  tick(isContactVoiced: boolean): void
  /** So much of what is said now was played. */
  played(playedMs: number, producedMs: number): void
  /** The call is over: tells the listener how it went, if a machine had answered. Safe twice. */
  settle(): void
  /** Whether the agent is to be silent: a machine speaks, and the beep is still to come. */
  readonly isWaiting: boolean
  readonly isDetected: boolean
  readonly result: ConversationFacts['voicemail']
}

export interface VoicemailActions {
  /** Whatever the agent is saying is to stop. */
  silenceAgent(): void
  /** Says the message, then the call is to end. */
  leaveMessage(text: string): void
  hangUp(): void
  onVoicemail(messageLeft: boolean): void
}

const frameMs = 20
/** No beep was heard, but the machine has been silent for this long: it is recording. */
const recordingSilenceMs = 2_000
const longestGreetingMs = 30_000
/** A message of which the machine took half counts as left. */
const leftPart = 0.5

export const createVoicemail = (
  { voicemail, voicemailMessage }: ConversationAgent,
  actions: VoicemailActions,
): Voicemail => {
  let state: 'none' | 'waiting' | 'speaking' | 'skipped' = 'none'
  let waitedMs = 0
  let silentMs = 0
  let isMessageLeft = false
  let isSettled = false
  const leavesMessage = voicemail === 'leave_message' && voicemailMessage.trim() !== ''

  const speak = (): void => {
    state = 'speaking'
    actions.leaveMessage(voicemailMessage)
  }

  const begin = (by: 'words' | 'beep'): void => {
    actions.silenceAgent()
    if (!leavesMessage) {
      state = 'skipped'
      return actions.hangUp()
    }
    if (by === 'beep') speak()
    else state = 'waiting'
  }

  return {
    detected(by) {
      if (state === 'none') begin(by)
      else if (state === 'waiting' && by === 'beep') speak()
    },
    tick(isContactVoiced) {
      if (state !== 'waiting') return
      waitedMs += frameMs
      silentMs = isContactVoiced ? 0 : silentMs + frameMs
      if (silentMs >= recordingSilenceMs || waitedMs >= longestGreetingMs) speak()
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
      return state === 'waiting'
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
