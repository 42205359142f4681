import type { SummaryTurn } from './summarize.ts'

/** One line of JSON cannot leave its line, and the fence cannot be guessed, so spoken words stay data. */
export const fenceTurns = (turns: readonly SummaryTurn[], nonce: string): string =>
  [
    `<transcript-${nonce}>`,
    ...turns.map(({ speaker, text }) => JSON.stringify({ speaker, text })),
    `</transcript-${nonce}>`,
  ].join('\n')

/** The turns between the fences; the sandbox's model reads them this way. */
export const readFencedTurns = (prompt: string): SummaryTurn[] => {
  return fencedText(prompt)
    .split('\n')
    .flatMap((line) => {
      try {
        const turn = JSON.parse(line) as Partial<SummaryTurn> | null
        const isTurn = typeof turn?.text === 'string' && typeof turn.speaker === 'string'
        return isTurn ? [{ speaker: turn.speaker, text: turn.text } as SummaryTurn] : []
      } catch {
        return []
      }
    })
}

const fencedText = (prompt: string): string => {
  const opening = /^<transcript-([0-9a-f]+)>\n/m.exec(prompt)
  if (opening === null) return ''
  const start = opening.index + opening[0].length
  const end = prompt.lastIndexOf(`\n</transcript-${opening[1] ?? ''}>`)
  return prompt.slice(start, Math.max(start, end))
}
