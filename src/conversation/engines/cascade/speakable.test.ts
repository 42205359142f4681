import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { speakable } from './speakable.ts'

describe('the text for the voice', () => {
  for (const [written, spoken] of [
    ['**Sure!** It is *really* __that__ _easy_.', 'Sure! It is really that easy.'],
    ['# Options\n\n- one\n- two\n* three', 'Options\n\none\ntwo\nthree'],
    ['> He said `yes`.', 'He said yes.'],
    ['See [our page](https://a.example/x?y=1) and ![a map](m.png).', 'See our page and a map.'],
    ['```json', ''],
    ['---', ''],
    ['**', '**'],
    ['It costs **12** euros, not *15*.', 'It costs 12 euros, not 15.'],
    ['~~No~~ Yes.', 'No Yes.'],
  ] as const) {
    it(`contains only the words of ${JSON.stringify(written)}`, () => {
      assert.equal(speakable(written), spoken)
    })
  }

  for (const plain of [
    'It is 5 * 3, minus 2 - 1.',
    'It is 5*3, or 2**4.',
    'Your file is called my_new_file.',
    'We open at 9 - 5, Monday to Friday.',
    'Press the # key, then [pause] wait (please).',
    '-5 degrees, and it is > 3 there.',
  ]) {
    it(`is unchanged: ${plain}`, () => {
      assert.equal(speakable(plain), plain)
    })
  }
})
