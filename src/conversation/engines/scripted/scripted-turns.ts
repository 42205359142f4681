import { transferFailedNote, type Dialogue, type ScriptedReply } from './dialogue.ts'

const maxPendingTextLength = 4_000
const silentReply: ScriptedReply = { text: '', calls: [] }

/** The inputs to which the scripted model has not replied, and its last reply. */
export class ScriptedTurns {
  #pendingText = ''
  #lastReply = silentReply
  #isCutOff = false

  tell(text: string): void {
    this.#pendingText = `${this.#pendingText} ${text}`.trim().slice(-maxPendingTextLength)
  }

  /** The input was taken back before the reply. */
  takeBack(text: string): void {
    if (text !== '') this.#pendingText = this.#pendingText.replace(text, '').trim()
  }

  transferFailed(): void {
    this.tell(transferFailedNote)
  }

  /** The callee did not hear the last reply to its end. */
  cutOff(): void {
    this.#isCutOff = true
  }

  /** The model's own words of an earlier session: they replied to what came before them. */
  repliedEarlier(dialogue: Dialogue): void {
    if (this.#pendingText !== '') this.#work(dialogue)
  }

  /**
   * The next reply. It repeats the last one if that was cut off; without new input the model is
   * silent.
   */
  reply(dialogue: Dialogue): ScriptedReply {
    const isNew = this.#pendingText !== ''
    if (isNew) this.#work(dialogue)
    const reply = isNew || this.#isCutOff ? this.#lastReply : silentReply
    this.#isCutOff = false
    return reply
  }

  #work(dialogue: Dialogue): void {
    this.#lastReply = dialogue.reply(this.#pendingText)
    this.#pendingText = ''
  }
}
