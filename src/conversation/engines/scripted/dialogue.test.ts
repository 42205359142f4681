import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { unrecognisedText } from '../../../call-text/unrecognised-text.ts'
import { createDialogue, type Dialogue } from './dialogue.ts'

const allTools = new Set(['end_call', 'opt_out', 'voicemail_detected'])
const greeting = 'Hello, this is Ann.'

const createBench = (instructions = '', tools: ReadonlySet<string> = allTools): Dialogue =>
  createDialogue({ instructions, tools, greeting: () => greeting })

const callsOf = (heard: string): string[] =>
  createBench()
    .reply(heard)
    .calls.map(({ name }) => name)

describe('the scripted dialogue', () => {
  it('holds a short conversation up to its goodbye', () => {
    const dialogue = createBench('You are Ann. Purpose: to confirm the appointment on Tuesday.')
    const heard = [
      'Hello, this is Sam speaking.',
      'Yes, I have a minute. What is it about?',
      'That sounds good. Tuesday morning works for me.',
      'Thank you for calling. Goodbye.',
    ]
    const replies = heard.map((text) => dialogue.reply(text))
    assert.deepEqual(
      replies.map(({ text }) => text),
      [
        'Nice to meet you. Do you have a minute?',
        'I am calling to confirm the appointment on Tuesday.',
        'Great, I have written that down. Is there anything else I can do for you?',
        'Thank you for your time. Goodbye.',
      ],
    )
    assert.deepEqual(replies[3]?.calls, [{ name: 'end_call', arguments: { outcome: 'achieved' } }])
  })

  for (const [heard, calls] of [
    ['Please never call me again. Take me off your list.', ['opt_out', 'end_call']],
    ['You have reached the voicemail of Alex.', ['voicemail_detected']],
    ['Please leave a message after the tone.', ['voicemail_detected']],
    ['Wrong number.', ['end_call']],
    ['I am not interested, thank you.', ['end_call']],
    ['I am driving right now.', ['end_call']],
    ['Let me tell you about my garden.', []],
  ] as const) {
    it(`answers "${heard}" with ${calls.join(' and ') || 'words only'}`, () => {
      assert.deepEqual(callsOf(heard), calls)
    })
  }

  it('says nothing to a voicemail, and little to a first "Hello?"', () => {
    assert.equal(createBench().reply('Leave a message after the beep.').text, '')
    const dialogue = createBench()
    assert.equal(dialogue.reply('Hello?').text, '')
    assert.equal(dialogue.reply('Hello?').text, 'Yes, I am here.')
  })

  it('gives up after three inputs that it does not understand', () => {
    const dialogue = createBench()
    assert.deepEqual(dialogue.reply(unrecognisedText).calls, [])
    assert.deepEqual(dialogue.reply(`${unrecognisedText} ${unrecognisedText}`).calls, [])
    assert.equal(dialogue.reply(unrecognisedText).calls[0]?.name, 'end_call')
  })

  it('replies as its prompt instructs', () => {
    const dialogue = createBench('If asked about parking, say "There is a garage next door."')
    assert.equal(dialogue.reply('Is there parking?').text, 'There is a garage next door.')
  })

  it('presses keys and transfers the call as its prompt instructs', () => {
    const tools = new Set(['send_dtmf', 'transfer_call'])
    const dialogue = createBench(
      'If asked about the menu, press "12#". If asked about the price, transfer the call.',
      tools,
    )
    assert.deepEqual(dialogue.reply('Please choose from the menu.').calls, [
      { name: 'send_dtmf', arguments: { digits: '12#' } },
    ])
    const transfer = dialogue.reply('What is the price?')
    assert.deepEqual(transfer.calls, [{ name: 'transfer_call', arguments: {} }])
    assert.match(transfer.text, /connect you/)
    assert.deepEqual(dialogue.reply('Can I speak to a person?').calls, transfer.calls)
    assert.match(dialogue.reply('[the transfer failed]').text, /nobody can take your call/)
    const alone = createBench().reply('Can I speak to a person?')
    assert.deepEqual(alone.calls, [])
    assert.match(alone.text, /cannot connect you/)
  })

  it('tells a screening assistant who is calling and why', () => {
    const reply = createBench(
      'You are "Riverside Dental".\n\nPurpose: to move your appointment.',
    ).reply(
      'Hi. If you record your name and reason for calling, I will see if this person is available.',
    )
    assert.deepEqual(reply, {
      text: 'This is Riverside Dental. I am calling to move your appointment.',
      calls: [],
    })
  })

  it('calls no tool that the session lacks', () => {
    const dialogue = createBench('', new Set(['end_call']))
    assert.deepEqual(dialogue.reply('Never call me again.').calls, [
      { name: 'end_call', arguments: { outcome: 'opted_out' } },
    ])
  })
})
