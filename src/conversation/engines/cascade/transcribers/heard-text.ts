/** Longer speech than this in one turn is cut at its beginning. */
const maxLength = 20_000

/** The words of one stretch of speech: the final ones, and behind them those that may still change. */
export class HeardText {
  #final = ''
  #open = ''
  /** Words that were taken before they were final: their final form comes late and is not repeated. */
  #taken = ''

  get words(): string {
    return joined(this.#final, this.#open)
  }

  add(text: string, isFinal: boolean): void {
    if (!isFinal) {
      this.#open = text.trim()
      return
    }
    this.#open = ''
    if (this.#taken !== '' && plainWords(text).startsWith(this.#taken)) {
      this.#taken = ''
      return
    }
    this.#taken = ''
    this.#final = joined(this.#final, text.trim()).slice(-maxLength)
  }

  /** The words, which end here. */
  take(): string {
    const { words } = this
    this.#taken = plainWords(this.#open)
    this.#final = ''
    this.#open = ''
    return words
  }
}

const joined = (one: string, other: string): string =>
  one && other ? `${one} ${other}` : one + other

/** The words without case and punctuation, which transcribers change to the last. */
export const plainWords = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, ' ')
    .split(' ')
    .filter((word) => word !== '')
    .join(' ')
