/** The word with the fewest changes from `name`; of several the first. Empty without words. */
export const nearestWord = (name: string, words: Iterable<string>): string =>
  [...words].toSorted((a, b) => distance(name, a) - distance(name, b))[0] ?? ''

/** Levenshtein distance, one row at a time. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
