// Runs alone: it compares how much time of a processor texts take.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findSlowText } from './linear-growth.ts'
import {
  builtInTree,
  countBuilt,
  filesThatBuild,
  literalsIn,
  literalsOfTree,
  sourceOf,
} from './tree-expressions.ts'

/** Each is slow for a different reason: overlapping neighbours, a restarting search, a repeated alternative. */
const slowExpressions = [
  /^[a-z]+\s*(?::\s*\d+)?\s*(?:;.*)?$/,
  /[\s,.]+$/,
  /^([^:]+):[ \t]*(.*?)[ \t]*$/,
  /^\s*signal\s*=/m,
  /;\s*rport\s*(?:=\s*[^;\s]*)?\s*(?=;|$)/g,
  /<[^>]*>x/,
  /^(?:a|b|ab)*c/,
  /^<([a-z]+)>\n[^]*\n<\/\1>$/m,
  /(?<!\d\**)\*+(?=\S)/,
]

const linearExpressions = [
  /^[a-z]+(?:\s*:\s*\d+)?$/,
  /^(?:[^"\\]|"(?:[^"\\]|\\[^])*")*$/,
  /\p{L}+/gu,
  /[ \t]{0,3}#/,
  /^\S+ \S+$/,
]

describe('the search for slow expressions', () => {
  for (const expression of slowExpressions) {
    it(`finds the text that ${expression} is slow on`, () => {
      assert.notEqual(findSlowText(expression), undefined)
    })
  }

  for (const expression of linearExpressions) {
    it(`reports nothing for ${expression}`, () => {
      assert.equal(findSlowText(expression), undefined)
    })
  }

  it('finds the literals of a source, and the expressions it builds', () => {
    const source = [
      'const half = (total as number) / 2 / 1',
      'const text = `a/${/in a (template)/.source}/b` // a /comment/',
      'export const isWord = (word: string): boolean => /^[/\\w]+$/iu.test(word)',
      "const built = new RegExp('a+')",
    ].join('\n')
    assert.deepEqual(
      literalsIn(source).map(({ expression, line }) => [String(expression), line]),
      [
        ['/in a (template)/', 2],
        ['/^[/\\w]+$/iu', 3],
      ],
    )
    assert.equal(countBuilt(source), 1)
  })
})

describe('the regular expressions of the product', () => {
  it('each take linear time on the worst text for their structure', () => {
    const expressions = literalsOfTree()
    assert.ok(expressions.length > 200, `only ${expressions.length} were seen`)
    const slow = expressions.flatMap(({ expression, place }) => {
      const found = findSlowText(expression)
      return found ? [`${place} ${expression}: ${JSON.stringify(found)}`] : []
    })
    assert.deepEqual(slow, [])
  })

  it('do so too when they are combined', async () => {
    const built = await builtInTree()
    assert.ok(filesThatBuild().length > 0)
    for (const file of filesThatBuild()) {
      const seen = built.filter((expression) => expression.file === file).length
      assert.equal(seen, countBuilt(sourceOf(file)), `${file} builds them when it is loaded`)
    }
    const slow = built.flatMap(({ expression, place }) => {
      const found = findSlowText(expression)
      return found ? [`${place} ${expression}: ${JSON.stringify(found)}`] : []
    })
    assert.deepEqual(slow, [])
  })
})
