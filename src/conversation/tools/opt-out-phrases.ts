/**
 * Phrases that count as an opt-out, also where the model misses it. Narrow, because an opt-out bars
 * the number.
 */
const optOutPhrases: readonly RegExp[] = [
  /\b(?:never|don't ever|do not ever) (?:call|ring|phone|contact) (?:me|us|here|this number)\b/,
  /\b(?:do not|don't|never) (?:call|ring|phone|contact) (?:me |us |here |this number )?(?:again|any ?more|ever)\b/,
  /\bstop (?:calling|ringing|phoning|contacting) (?:me|us|here|this number)\b/,
  /\b(?:take|remove|delete) (?:me|us|my number|this number) (?:off|from) (?:your|the|this|that)(?: \w+)? lists?\b/,
  /\b(?:put|add) (?:me|us|my number|this number) (?:on|to) (?:your|the) do[- ]not[- ]call list\b/,
  /\bremove my number\b/,
]

/**
 * Whether the callee asks, in English, never to be called again. For other languages the model's
 * `opt_out` decides.
 */
export const asksNeverToBeCalled = (text: string): boolean => {
  const plain = text.toLowerCase().replaceAll('’', "'").replace(/\s+/g, ' ')
  return optOutPhrases.some((phrase) => phrase.test(plain))
}
