import { transferFailedNote, type Dialogue, type Reply } from './dialogue.ts'

const maxPendingTextLength = 4_000
const silentReply: Reply = { text: '', calls: [] }

/** What the scripted model was told and has not replied to, and what it replied last. */
export class ScriptedTurns {
  #pendingText = ''
  #lastReply = silentReply
  #isCutOff = false

  tell(text: string): void {
    this.#pendingText = `${this.#pendingText} ${text}`.trim().slice(-maxPendingTextLength)
  }

  transferFailed(): void {
    this.tell(transferFailedNote)
  }

  /** The callee did not hear the last reply to its end. */
  cutOff(): void {
    this.#isCutOff = true
  }

  /** The model's own words of an earlier session: they were the reply to what stood before them. */
  repliedEarlier(dialogue: Dialogue): void {
    if (this.#pendingText !== '') this.#work(dialogue)
  }

  /** The next reply. The last one is repeated if it was cut off; without anything new the model is silent. */
  reply(dialogue: Dialogue): Reply {
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
