import { createAnswerClassifier, type AnswerVerdict, type NobodyKind } from './answer-classifier.ts'
import { frameMs } from '../../audio/frame.ts'
import type { HangUpReason } from '../../call-text/hang-up-reason.ts'
import { unrecognisedText } from '../../call-text/unrecognised-text.ts'
import {
  createVoicemail,
  type Voicemail,
  type VoicemailActions,
  type VoicemailSettings,
} from './voicemail.ts'

/** Finds out who or what answered, and does what the agent's settings say about it. */
export interface AnsweringParty {
  readonly voicemail: Voicemail
  /** The next 20 ms of the other side (160 samples). */
  listen(frame: Int16Array, isVoiced: boolean): void
  /** The engine noticed speech, whose words are to come. */
  speechStarted(): void
  contactText(text: string): void
  /** The engine called `voicemail_detected`. Its result is sent at once, or when the words it heard are known. */
  voicemailTool(toolCallId: string): void
  tick(isContactVoiced: boolean, isBusy: boolean): void
}

export interface AnsweringPartyActions extends Omit<VoicemailActions, 'hangUp'> {
  hangUp(reason: HangUpReason): void
  /** An apparatus or the network answered; the call ends. */
  onNobody(kind: NobodyKind): void
  /** An assistant asks who is calling and why. The engine replies; then the assistant looks for a person, which takes a while. */
  onScreening(): void
  sendToolResult(toolCallId: string, result: unknown, goOn: boolean): void
}

/** How long the words may take that a model has heard already: a screening prompt must not pass for a voicemail. */
const wordsDelayLimitMs = 1_500
const screeningNote =
  'This is an assistant that screens calls for a person, no voicemail. Say in one sentence who you are and why you call, then wait.'

export const createAnsweringParty = (
  settings: VoicemailSettings,
  actions: AnsweringPartyActions,
): AnsweringParty => {
  const classifier = createAnswerClassifier()
  const voicemail = createVoicemail(settings, {
    ...actions,
    hangUp: () => actions.hangUp('voicemail'),
  })
  let wordsOwed = 0
  let isNobody = false
  let toolCall: { readonly id: string; waitedMs: number } | undefined

  const endWithoutPerson = (kind: NobodyKind): void => {
    if (isNobody) return
    isNobody = true
    actions.silenceAgent()
    actions.onNobody(kind)
    actions.hangUp('nobody_there')
  }

  const act = ({ kind, by }: AnswerVerdict): void => {
    switch (kind) {
      case 'voicemail':
        return voicemail.detected(by === 'beep' ? 'beep' : 'other')
      case 'screening':
        return actions.onScreening()
      case 'callee_gone':
        return actions.hangUp(voicemail.isDetected ? 'voicemail' : 'callee_gone')
      case 'busy':
        // A machine that has recorded enough hangs up, and its network says so by this tone.
        return voicemail.isDetected ? actions.hangUp('voicemail') : endWithoutPerson(kind)
      case 'fax':
      case 'unobtainable':
        return voicemail.isDetected ? undefined : endWithoutPerson(kind)
    }
  }

  const settleTool = (id: string): void => {
    toolCall = undefined
    const verdict = classifier.engineSaysVoicemail()
    if (!verdict) return actions.sendToolResult(id, { voicemail: false, note: screeningNote }, true)
    actions.sendToolResult(id, { noted: true }, false)
    act(verdict)
  }

  const tickTool = (): void => {
    if (!toolCall) return
    toolCall.waitedMs += frameMs
    if (wordsOwed === 0 || toolCall.waitedMs >= wordsDelayLimitMs) settleTool(toolCall.id)
  }

  return {
    voicemail,
    listen(frame, isVoiced) {
      const verdict = classifier.push(frame, isVoiced)
      if (verdict) act(verdict)
      else if (classifier.hasBeeped && voicemail.isDetected) voicemail.detected('beep')
    },
    speechStarted() {
      wordsOwed += 1
    },
    contactText(text) {
      wordsOwed = Math.max(0, wordsOwed - 1)
      const isUnderstood = text !== '' && text !== unrecognisedText
      const verdict = isUnderstood ? classifier.heardText(text) : undefined
      if (verdict) act(verdict)
    },
    voicemailTool(toolCallId) {
      // A second call while the first one waits: they are about the same words.
      if (toolCall) return actions.sendToolResult(toolCallId, { noted: true }, false)
      toolCall = { id: toolCallId, waitedMs: 0 }
      if (wordsOwed === 0) settleTool(toolCallId)
      else actions.silenceAgent()
    },
    tick(isContactVoiced, isBusy) {
      tickTool()
      voicemail.tick(isContactVoiced, isBusy)
    },
  }
}
