import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createGuessBudget } from './guess-budget.ts'
import { PauseWatch } from './pause-watch.ts'
import { HeardText } from './transcribers/heard-text.ts'
import { soundsUnfinished } from './unfinished-words.ts'

describe('the budget of early requests', () => {
  it('allows at most 30 % more requests, however often the callee goes on', () => {
    const budget = createGuessBudget()
    const turns = 1_000
    let wasted = 0
    for (let turn = 0; turn < turns; turn += 1) {
      // Three pauses in each turn, of which none is the last.
      for (let pause = 0; pause < 3; pause += 1)
        if (budget.mayGuess) {
          budget.spend()
          wasted += 1
        }
      budget.turnEnded()
    }
    assert.ok(wasted <= turns * 0.3 + 1, `${wasted} were thrown away`)
    assert.ok(wasted > turns * 0.25, 'the budget is used')
  })

  it('costs nothing while the guesses are right', () => {
    const budget = createGuessBudget()
    for (let turn = 0; turn < 100; turn += 1) {
      assert.ok(budget.mayGuess)
      budget.spend()
      budget.turnEnded()
      budget.giveBack()
    }
  })
})

describe('a pause', () => {
  const changes = (voiced: string): string[] => {
    const watch = new PauseWatch()
    return voiced.split('').flatMap((each) => watch.hear(each === 'v', true) ?? [])
  }

  it('is 100 ms without voice, and ends with 60 ms of voice', () => {
    assert.deepEqual(changes('vvv....'), [])
    assert.deepEqual(changes('vvv.....'), ['paused'])
    assert.deepEqual(changes('vvv.......vv..v'), ['paused'])
    assert.deepEqual(changes('vvv...............'), ['paused', 'long_pause'])
    assert.deepEqual(changes('vvv.......vvv.....'), ['paused', 'resumed', 'paused'])
  })

  it('is found inside of speech only', () => {
    const watch = new PauseWatch()
    assert.deepEqual(
      [...Array(20)].flatMap(() => watch.hear(false, false) ?? []),
      [],
    )
  })
})

it('no sentence ends with "and", a comma or "um"', () => {
  for (const words of [
    'I would like and',
    'On Tuesday,',
    'Well um',
    'Ich möchte, dass',
    'My name is the',
  ])
    assert.ok(soundsUnfinished(words), words)
  for (const words of ['Yes.', 'On Tuesday', 'That is what I want', ''])
    assert.ok(!soundsUnfinished(words), words)
})

describe('heard text', () => {
  it('joins final words and those that may change', () => {
    const text = new HeardText()
    text.add('I would', false)
    text.add('I would like', true)
    text.add('to com', false)
    text.add('to come', false)
    assert.equal(text.words, 'I would like to come')
    assert.equal(text.take(), 'I would like to come')
    assert.equal(text.words, '')
  })

  it('does not repeat words whose final form comes too late', () => {
    const text = new HeardText()
    text.add('on tuesday', false)
    assert.equal(text.take(), 'on tuesday')
    text.add('On Tuesday.', true)
    assert.equal(text.words, '')
    text.add('On Tuesday.', true)
    assert.equal(text.words, 'On Tuesday.')
  })
})
