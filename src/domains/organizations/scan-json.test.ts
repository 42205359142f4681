import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../tests/support/properties.ts'
import { scanJson } from './scan-json.ts'

const paths = (json: string): string[] => scanJson(json).repeated.map(({ path }) => path)

test('a repeated member is reported with its path', () => {
  assert.deepEqual(paths('{"a": 1, "b": 2, "a": 3}'), ['a'])
  assert.deepEqual(paths('{"a": {"b": 1 , "b"\n: 2}}'), ['a.b'])
  assert.deepEqual(paths('{"a": [{}, [1, {"b": 1, "b": 2}]]}'), ['a[1][1].b'])
  assert.deepEqual(paths('{"a": 1, "a": {"b": 1, "b": 2}, "a": 3}'), ['a', 'a.b', 'a'])
})

test('one name in two notations is one name', () => {
  assert.deepEqual(paths(String.raw`{"a": 1, "\u0061": 2}`), ['a'])
  assert.deepEqual(paths(String.raw`{"\"": 1, "\\": 2, "\\\"": 3, "\u0022": 4}`), ['"'])
  assert.deepEqual(paths('{"__proto__": 1, "__proto__": 2}'), ['__proto__'])
})

test('text that is no member is ignored', () => {
  for (const json of ['1', '"a"', '["a", "a"]', '{"a": "a", "b": "a:", "c": ":"}', '{"": "{\\"a"}'])
    assert.deepEqual(paths(json), [], json)
})

test('the depth is that of the deepest value', () => {
  const depths = {
    '1': 0,
    '"{[["': 0,
    '{}': 1,
    '[1, {}]': 2,
    '{"a": [[], {"b": [1]}], "c": {}}': 4,
  }
  for (const [json, depth] of Object.entries(depths))
    assert.equal(scanJson(json).depth, depth, json)
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  assert.deepEqual(scanJson(deep), { repeated: [], depth: 100_000 })
})

test('JSON written from a value has no repeated member', () => {
  fc.assert(fc.property(fc.json({ maxDepth: 5 }), (json) => paths(json).length === 0))
})

test('an inserted repetition is found anywhere', () => {
  const tree = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.string(),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(fc.string(), tie('tree'), { maxKeys: 3 }),
    ),
  })).tree
  fc.assert(
    fc.property(tree, fc.string(), tree, (value, name, around) => {
      const member = `${JSON.stringify(name)}: ${JSON.stringify(value)}`
      const json = `[${JSON.stringify(around)}, {${member}, ${member}}]`
      return scanJson(json).repeated.length === 1
    }),
  )
})
