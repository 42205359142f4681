import { readFileSync } from 'node:fs'

/** Whether the words that follow a script's name ask what it does. */
export const asksForHelp = (words) => words.includes('--help') || words.includes('-h')

/** The comment a script begins with, as text: what it does and how it is called. Empty where it has none. */
export const helpOf = (file) => {
  const [, block, lines] =
    /^(?:\/\*\*([^]*?)\*\/|((?:\/\/.*\n)+))/.exec(readFileSync(file, 'utf8')) ?? []
  return (block ?? lines ?? '')
    .split('\n')
    .map((line) => line.replace(/^\s*(?:\*|\/\/) ?/, '').trimEnd())
    .join('\n')
    .trim()
}
