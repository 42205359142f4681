import { readFileSync } from 'node:fs'

/** Whether the arguments of a script ask for its description. */
export const asksForHelp = (words) => words.includes('--help') || words.includes('-h')

/** The leading comment of a script, as text: what it does and how it is called. Empty without one. */
export const helpOf = (file) => {
  const [, block, lines] =
    /^(?:\/\*\*([^]*?)\*\/|((?:\/\/.*\n)+))/.exec(readFileSync(file, 'utf8')) ?? []
  return (block ?? lines ?? '')
    .split('\n')
    .map((line) => line.replace(/^\s*(?:\*|\/\/) ?/, '').trimEnd())
    .join('\n')
    .trim()
}
