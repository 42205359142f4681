/** The command blocks of a Markdown document in order, with their comments about how they run. */
export interface CommandBlock {
  readonly document: string
  /** Line of the first command, counted from 1. */
  readonly line: number
  readonly commands: string
  readonly manner: Manner
}

/**
 * How a reader runs a block: to its end in the open terminal; in its own terminal, where it keeps running after it
 * has printed `until`, and replaces what ran there before; or not here, for a reason.
 */
export type Manner =
  | { readonly kind: 'to_its_end' }
  | { readonly kind: 'runs_on'; readonly terminal: string; readonly until: string }
  | { readonly kind: 'not_run'; readonly reason: string }

const fence = /^(`{3,})(\w*)\s*$/
const comment = /^<!-- (.*) -->$/
const runsOn = /^runs on in terminal (\w+) until "(.+)"$/
const notRun = /^not run: (.+)$/

/** Throws for a block of commands whose comment has no known form, and for an unclosed fence. */
export const commandBlocksOf = (document: string, text: string): CommandBlock[] => {
  const lines = text.split('\n')
  const blocks: CommandBlock[] = []
  let said: string | undefined
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? ''
    const [, ticks, language] = fence.exec(line) ?? []
    if (ticks === undefined) {
      if (line.trim() !== '') said = comment.exec(line)?.[1]
      continue
    }
    const end = lines.indexOf(ticks, index + 1)
    if (end < 0) throw new Error(`${document}:${index + 1}: this block is never closed`)
    if (language === 'sh')
      blocks.push({
        document,
        line: index + 2,
        commands: lines.slice(index + 1, end).join('\n'),
        manner: mannerOf(said, `${document}:${index + 1}`),
      })
    index = end
    said = undefined
  }
  return blocks
}

const mannerOf = (said: string | undefined, place: string): Manner => {
  if (said === undefined) return { kind: 'to_its_end' }
  const [, terminal, until] = runsOn.exec(said) ?? []
  if (terminal !== undefined && until !== undefined) return { kind: 'runs_on', terminal, until }
  const reason = notRun.exec(said)?.[1]
  if (reason !== undefined) return { kind: 'not_run', reason }
  throw new Error(`${place}: the comment "${said}" does not say how the block runs`)
}
