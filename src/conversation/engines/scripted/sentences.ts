/** `Hello. Who is this?` as its two sentences, trimmed. */
export const splitSentences = (text: string): string[] =>
  text
    .split(/(?<=[.!?…])\s+/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '')
