import { plainWords } from './transcribers/heard-text.ts'

/** Words after which nobody ends a sentence, of the languages that the agent's own phrases know. */
const openEnds = new Set(
  (
    'and or but because if the a an to of for with my your um uh er ' +
    'und oder aber weil dass der die das ein eine mit mein ich äh ähm ' +
    'y o pero porque que el la los un una de con mi yo eh ' +
    'et ou mais parce que le les une des du avec mon euh ' +
    'e ma perché che il con mio ehm en of maar omdat het een met mijn mas porque com meu'
  ).split(' '),
)

/** Whether the callee very likely goes on. */
export const soundsUnfinished = (words: string): boolean =>
  /[,;:–-]$/u.test(words.trimEnd()) || openEnds.has(plainWords(words).split(' ').at(-1) ?? '')
