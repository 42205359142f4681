import { RegExpParser, type AST } from '@eslint-community/regexpp'

/** A text that repeats one piece: `before`, the piece up to the requested length, `after`. */
export interface HostileText {
  readonly before: string
  readonly piece: string
  readonly after: string
}

/** The text with its repetition up to `length` characters. */
export const writeHostileText = ({ before, piece, after }: HostileText, length: number): string =>
  before + piece.repeat(Math.ceil((length - before.length) / piece.length)) + after

/**
 * Texts that may be slow for an expression of this structure. For each unbounded quantifier: the prefix that leads
 * there, a long run of characters that it accepts, and an end that makes the match fail. An expression without an
 * unbounded quantifier has none.
 */
export const hostileTextsOf = (expression: RegExp): HostileText[] => {
  const pattern = new RegExpParser().parsePattern(expression.source, undefined, undefined, {
    unicode: expression.unicode,
    unicodeSets: expression.unicodeSets,
  })
  const alphabet = representatives(pattern, expression)
  const texts = new Map<string, HostileText>()
  for (const { quantifier, before } of unboundedQuantifiers(pattern.alternatives, [''], alphabet)) {
    // A search that restarts after each prefix needs many prefixes.
    const taken = new Set([
      ...piecesOf(quantifier.element, alphabet),
      ...before.filter((text) => text !== ''),
      ...before.map((text) => text + sampleOf(quantifier.element, 1, alphabet)),
    ])
    taken.delete('')
    const refused = alphabet.find(({ takenBy }) => !takenBy.has(quantifier.element))?.character
    for (const start of new Set(['', ...before])) {
      for (const piece of taken) {
        for (const after of new Set(['', '\u0000', '\n', refused ?? '\u0000'])) {
          texts.set(JSON.stringify([start, piece, after]), { before: start, piece, after })
        }
      }
    }
  }
  return [...texts.values()]
}

type CharacterNode =
  AST.Character | AST.CharacterSet | AST.CharacterClass | AST.ExpressionCharacterClass

interface Representative {
  readonly character: string
  readonly takenBy: ReadonlySet<AST.Node>
}

const usualCharacters =
  ' \t\n\r\u0000aAzZ019_-.,:;/\\\'"`<>()[]{}@=+*&%!?#$^|~\u00a0\u00e4\u2026\u{1f600}'

/**
 * One character of each kind. Characters accepted by the same parts of the pattern are one kind, except for line
 * breaks and word characters, which `^`, `$` and `\b` distinguish.
 */
const representatives = (pattern: AST.Pattern, { flags }: RegExp): Representative[] => {
  const nodes = characterNodesIn(pattern.alternatives)
  const tests = nodes.map((node) => new RegExp(`^${node.raw}$`, flags.replace(/[gym]/g, '')))
  const kinds = new Map<string, Representative>()
  for (const character of new Set(usualCharacters + pattern.raw)) {
    const takes = tests.map((test) => test.test(character))
    const takenBy = new Set<AST.Node>(nodes.filter((_, at) => takes[at]))
    const kind = [...takes, character === '\n', /\w/.test(character)].join()
    if (!kinds.has(kind)) kinds.set(kind, { character, takenBy })
  }
  return [...kinds.values()]
}

const isCharacterNode = (node: AST.Node): node is CharacterNode =>
  ['Character', 'CharacterSet', 'CharacterClass', 'ExpressionCharacterClass'].includes(node.type)

const characterNodesIn = (alternatives: readonly AST.Alternative[]): CharacterNode[] =>
  alternatives.flatMap(({ elements }) => elements.flatMap(characterNodesOf))

const characterNodesOf = (node: AST.Element): CharacterNode[] => {
  if (isCharacterNode(node)) return [node]
  if (node.type === 'Quantifier') return characterNodesOf(node.element)
  return 'alternatives' in node ? characterNodesIn(node.alternatives) : []
}

interface FoundQuantifier {
  readonly quantifier: AST.Quantifier
  /** Texts that lead up to it. */
  readonly before: readonly string[]
}

function* unboundedQuantifiers(
  alternatives: readonly AST.Alternative[],
  before: readonly string[],
  alphabet: readonly Representative[],
): Generator<FoundQuantifier> {
  for (const { elements } of alternatives) {
    let reached = before
    for (const element of elements) {
      yield* quantifiersIn(element, reached, alphabet)
      const samples = [0, 1].map((round) => sampleOf(element, round, alphabet))
      reached = reached.map((text, at) => text + (samples[at % 2] ?? ''))
      if (reached.length === 1) reached = [...reached, (before[0] ?? '') + (samples[1] ?? '')]
    }
  }
}

function* quantifiersIn(
  element: AST.Element,
  before: readonly string[],
  alphabet: readonly Representative[],
): Generator<FoundQuantifier> {
  if (element.type === 'Quantifier') {
    if (element.max === Infinity) yield { quantifier: element, before }
    yield* quantifiersIn(element.element, before, alphabet)
  } else if ('alternatives' in element) {
    yield* unboundedQuantifiers(element.alternatives, before, alphabet)
  }
}

/** Twice the number of tried alternatives. */
const sampleRounds = 8

/**
 * Texts that the element accepts at once: every kind of character in it, and a sample of each of its alternatives.
 */
const piecesOf = (element: AST.Element, alphabet: readonly Representative[]): Set<string> => {
  const nodes = characterNodesOf(element)
  const characters = alphabet
    .filter(({ takenBy }) => nodes.some((node) => takenBy.has(node)))
    .map(({ character }) => character)
  const rounds = Array.from({ length: sampleRounds }, (_, round) => round).map((round) =>
    sampleOf(element, round, alphabet),
  )
  return new Set([...characters, ...rounds].filter((piece) => piece !== ''))
}

/**
 * A text that the element accepts. Another `round` chooses other alternatives and, if odd, repeats optional parts.
 */
const sampleOf = (
  element: AST.Element,
  round: number,
  alphabet: readonly Representative[],
): string => {
  if (element.type === 'Character') return String.fromCodePoint(element.value)
  if (isCharacterNode(element))
    return alphabet.find(({ takenBy }) => takenBy.has(element))?.character ?? ''
  if (element.type === 'Quantifier') {
    const times = Math.min(element.max, Math.max(element.min, round % 2))
    return sampleOf(element.element, round, alphabet).repeat(times)
  }
  if (element.type !== 'Group' && element.type !== 'CapturingGroup') return ''
  const { alternatives } = element
  const chosen = alternatives[(round >> 1) % alternatives.length]
  return (chosen?.elements ?? []).map((part) => sampleOf(part, round, alphabet)).join('')
}
