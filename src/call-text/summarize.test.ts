import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { summarize, type SummaryInput, type SummaryTurn } from './summarize.ts'

const agent = (text: string): SummaryTurn => ({ speaker: 'agent', text })
const contact = (text: string): SummaryTurn => ({ speaker: 'contact', text })
const greeting = agent('Hello, this is Ann from Acme Dental.')

const call = (turns: readonly SummaryTurn[], facts: Partial<SummaryInput> = {}): SummaryInput => ({
  turns,
  optedOut: false,
  voicemail: 'none',
  configuredOutcomes: [],
  ...facts,
})

describe('summarize', () => {
  it('quotes the agent and states that the callee did not speak', () => {
    assert.deepEqual(summarize(call([greeting], { hangUpReason: 'callee_silent' })), {
      summary:
        'The agent said "Hello, this is Ann from Acme Dental." Nobody spoke on the other side. The agent ended the call after a long silence.',
      outcome: 'not_reached',
      outcomeReason: 'The call was answered, but nobody spoke.',
    })
  })

  it('quotes the most informative words of the contact', () => {
    const turns = [
      greeting,
      contact('Hello.'),
      contact('That sounds good. Tuesday morning works for me.'),
      contact('Goodbye.'),
    ]
    const { summary, outcome, outcomeReason } = summarize(call(turns))
    assert.match(summary, /Tuesday morning works for me/)
    assert.doesNotMatch(summary, /hung up|ended the call/)
    assert.equal(outcome, 'achieved')
    assert.match(outcomeReason, /Tuesday morning/)
  })

  const table: readonly (readonly [string, SummaryInput, string])[] = [
    [
      'an opt-out before everything',
      call([contact('Never call me again.')], { optedOut: true, reportedOutcome: 'achieved' }),
      'opted_out',
    ],
    ['a message left', call([greeting], { voicemail: 'message_left' }), 'voicemail_left'],
    [
      'a voicemail skipped',
      call([contact('Leave a message.')], { voicemail: 'skipped' }),
      'voicemail_skipped',
    ],
    [
      'what the agent reported',
      call([contact('Yes.')], { reportedOutcome: 'callback_requested' }),
      'callback_requested',
    ],
    [
      'a configured outcome the agent reported',
      call([contact('Yes.')], { reportedOutcome: 'booked', configuredOutcomes: ['booked'] }),
      'booked',
    ],
    [
      'no outcome the agent made up',
      call([contact('Yes.')], { reportedOutcome: 'invented' }),
      'achieved',
    ],
    [
      'no claim of the agent about an opt-out that was not one',
      call([contact('Hm.')], { reportedOutcome: 'opted_out' }),
      'inconclusive',
    ],
    ['a wrong number', call([contact('Sorry, wrong number.')]), 'wrong_number'],
    [
      'a request to call back',
      call([contact('Can you call me back tomorrow?')]),
      'callback_requested',
    ],
    ['a refusal', call([contact('I am not interested, thank you.')]), 'not_achieved'],
    ['nothing clear', call([contact('My tomatoes grow well.')]), 'inconclusive'],
    ['an answer that only introduces', call([contact('Yes, this is she.')]), 'inconclusive'],
    ['speech nobody understood', call([greeting, contact('[unrecognised]')]), 'inconclusive'],
    ['no turns at all', call([]), 'not_reached'],
  ]
  for (const [name, input, outcome] of table) {
    it(`knows ${name}`, () => assert.equal(summarize(input).outcome, outcome))
  }

  it('keeps to its limits in code points', () => {
    const long = contact('🙂 word '.repeat(500))
    const { summary, outcomeReason } = summarize(call([agent('x '.repeat(900)), long, long, long]))
    assert.ok(Array.from(summary).length <= 600)
    assert.ok(Array.from(outcomeReason).length <= 500)
    assert.ok(summary.isWellFormed())
  })
})
