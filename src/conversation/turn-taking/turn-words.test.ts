import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createTurnWords, type WordsEnd } from './turn-words.ts'

const english = createTurnWords('en-US')

describe('the words of a turn', () => {
  it('are a backchannel if they only show attention, in any order and spelling', () => {
    for (const text of ['Uh-huh.', 'right', 'Okay, okay.', 'Oh, I see.', 'Mm-hmm, yeah.'])
      assert.equal(english.kindOf(text), 'backchannel', text)
    for (const text of ['Right, but when?', 'Okay stop', 'No.', 'Wait.'])
      assert.equal(english.kindOf(text), 'speech', text)
    for (const text of ['', ' … ', '[unrecognised]'])
      assert.equal(english.kindOf(text), 'nothing', text)
  })

  it('belong to the language, and to the agent', () => {
    assert.equal(createTurnWords('de').kindOf('Ja, genau.'), 'backchannel')
    assert.equal(createTurnWords('fr-FR').kindOf('D’accord'), 'backchannel')
    assert.equal(english.kindOf('genau'), 'speech')
    assert.equal(createTurnWords('xx').kindOf('okay'), 'backchannel')
    const agent = createTurnWords('en', ['Copy that', 'Roger'])
    assert.equal(agent.kindOf('Roger, copy that!'), 'backchannel')
  })

  it('are a greeting only if nothing else is said', () => {
    for (const text of ['Hello?', 'Hi, hello!', 'Yes?', 'Hello, who is this?'])
      assert.equal(english.isHello(text), true, text)
    assert.equal(english.isHello('Hello, this is Sam speaking.'), false)
    assert.equal(createTurnWords('it').isHello('Pronto?'), true)
  })

  const ends: readonly (readonly [string, WordsEnd])[] = [
    ['What does it cost?', 'complete'],
    ['I would like to come on Monday.', 'complete'],
    ['yes', 'short'],
    ['No, thank you.', 'short'],
    ['I would like to come', 'open'],
    ['I would like to', 'unfinished'],
    ['Well, um…', 'unfinished'],
    ['On Monday or Tuesday,', 'unfinished'],
    ['My number is five five five', 'groups'],
    ['0176 555', 'groups'],
    ['five five five one two three four five six seven', 'open'],
    ['ann dot', 'groups'],
    ['my name is S M', 'groups'],
  ]
  for (const [text, end] of ends)
    it(`"${text}" is ${end}`, () => assert.equal(english.endOf(text), end))

  it('ask for a number, an address or a spelling', () => {
    assert.equal(english.asksForGroups('May I have your phone number?'), true)
    assert.equal(english.asksForGroups('Shall we say Tuesday?'), false)
    assert.equal(createTurnWords('de').asksForGroups('Wie ist Ihre E-Mail-Adresse?'), true)
  })

  it('are judged in linear time', () => {
    const long = 'uh-huh '.repeat(200_000)
    assert.equal(english.kindOf(long), 'backchannel')
    assert.equal(english.endOf(`${'a'.repeat(1_000_000)},`), 'unfinished')
  })
})
