import { AnswerClassifier, type AnswerVerdict, type NobodyKind } from './answer-classifier.ts'
import { frameMs } from '../../audio/frame.ts'
import type { HangUpReason } from '../../call-text/hang-up-reason.ts'
import { unrecognisedText } from '../../call-text/unrecognised-text.ts'
import { Voicemail, type VoicemailActions, type VoicemailSettings } from './voicemail.ts'

interface AnsweringPartyActions extends Omit<VoicemailActions, 'hangUp'> {
  hangUp(reason: HangUpReason): void
  /** A machine or the network answered; the call ends. */
  onNobody(kind: NobodyKind): void
  /**
   * An assistant asks who is calling and why. The engine replies; then the assistant looks for the
   * person, which takes time.
   */
  onScreening(): void
  readonly sendToolResult: (toolCallId: string, result: unknown, goOn: boolean) => void
}

/**
 * How long to wait for words that a model has already heard, so that a screening prompt is not
 * taken for a voicemail.
 */
const wordsDelayLimitMs = 1_500
const screeningNote =
  'This is an assistant that screens calls for a person, no voicemail. Say in one sentence who you are and why you call, then wait.'

/** Finds out who or what answered, and applies the agent's settings. */
export class AnsweringParty {
  readonly voicemail: Voicemail
  readonly #actions: AnsweringPartyActions
  readonly #classifier = new AnswerClassifier()
  #wordsOwed = 0
  #isNobody = false
  #toolCall: { readonly id: string; waitedMs: number } | undefined

  constructor(settings: VoicemailSettings, actions: AnsweringPartyActions) {
    this.#actions = actions
    this.voicemail = new Voicemail(settings, {
      ...actions,
      hangUp: () => actions.hangUp('voicemail'),
    })
  }

  /** The next 20 ms of the other side (160 samples). */
  listen(frame: Int16Array, isVoiced: boolean): void {
    const verdict = this.#classifier.push(frame, isVoiced)
    if (verdict) this.#act(verdict)
    else if (this.#classifier.hasBeeped && this.voicemail.isDetected)
      this.voicemail.detected('beep')
  }

  /** The engine noticed speech whose words are still to come. */
  speechStarted(): void {
    this.#wordsOwed += 1
  }

  contactText(text: string): void {
    this.#wordsOwed = Math.max(0, this.#wordsOwed - 1)
    const isUnderstood = text !== '' && text !== unrecognisedText
    const verdict = isUnderstood ? this.#classifier.heardText(text) : undefined
    if (verdict) this.#act(verdict)
  }

  /**
   * The engine called `voicemail_detected`. Its result is sent at once, or when the words it heard
   * are known.
   */
  voicemailTool(toolCallId: string): void {
    // A second call while the first one waits: both concern the same words.
    if (this.#toolCall) return this.#actions.sendToolResult(toolCallId, { noted: true }, false)
    this.#toolCall = { id: toolCallId, waitedMs: 0 }
    if (this.#wordsOwed === 0) this.#settleTool(toolCallId)
    else this.#actions.silenceAgent()
  }

  /** One tick. `isBusy`: the agent has something to say. */
  tick(isContactVoiced: boolean, isBusy: boolean): void {
    this.#tickTool()
    this.voicemail.tick(isContactVoiced, isBusy)
  }

  #act({ kind, by }: AnswerVerdict): void {
    const { isDetected } = this.voicemail
    switch (kind) {
      case 'voicemail':
        return this.voicemail.detected(by === 'beep' ? 'beep' : 'other')
      case 'screening':
        return this.#actions.onScreening()
      case 'callee_gone':
        return this.#actions.hangUp(isDetected ? 'voicemail' : 'callee_gone')
      case 'busy':
        // A machine with a full recording hangs up, and its network signals that by this tone.
        return isDetected ? this.#actions.hangUp('voicemail') : this.#endWithoutPerson(kind)
      case 'fax':
      case 'unobtainable':
        return isDetected ? undefined : this.#endWithoutPerson(kind)
    }
  }

  #endWithoutPerson(kind: NobodyKind): void {
    if (this.#isNobody) return
    this.#isNobody = true
    this.#actions.silenceAgent()
    this.#actions.onNobody(kind)
    this.#actions.hangUp('nobody_there')
  }

  #tickTool(): void {
    if (!this.#toolCall) return
    this.#toolCall.waitedMs += frameMs
    const isLate = this.#toolCall.waitedMs >= wordsDelayLimitMs
    if (this.#wordsOwed === 0 || isLate) this.#settleTool(this.#toolCall.id)
  }

  #settleTool(id: string): void {
    this.#toolCall = undefined
    const verdict = this.#classifier.engineSaysVoicemail()
    const { sendToolResult } = this.#actions
    if (!verdict) return sendToolResult(id, { voicemail: false, note: screeningNote }, true)
    sendToolResult(id, { noted: true }, false)
    this.#act(verdict)
  }
}
