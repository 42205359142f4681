import { asksNeverToBeCalled } from '../../tools/opt-out-phrases.ts'
import { unrecognisedText } from '../../../call-text/unrecognised-text.ts'

/** The scripted model's reply: words, tools, both or nothing. */
export interface ScriptedReply {
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly arguments: object }[]
}

/**
 * The scripted model's side of one conversation: a small table of rules; the same words always get
 * the same reply.
 */
export interface Dialogue {
  reply(heard: string): ScriptedReply
}

interface DialogueOptions {
  /** The session's instructions: the agent's prompt. */
  readonly instructions: string
  /** Names of the session's tools; no other is called. */
  readonly tools: ReadonlySet<string>
  /**
   * The agent's first words; repeated to a callee who did not hear them. Empty if there are none.
   */
  readonly greeting: () => string
}

interface Memory {
  turns: number
  misunderstood: number
  hasAgreed: boolean
}

interface Rule {
  readonly heard: RegExp
  reply(memory: Memory, options: DialogueOptions): ScriptedReply
}

const maxMisunderstandings = 3

export const createDialogue = (options: DialogueOptions): Dialogue => {
  const memory: Memory = { turns: 0, misunderstood: 0, hasAgreed: false }
  const answers = scriptedAnswers(options.instructions)
  return {
    reply(heard) {
      memory.turns += 1
      const reply = decide(heard, memory, options, answers)
      return { text: reply.text, calls: reply.calls.filter(({ name }) => options.tools.has(name)) }
    },
  }
}

const say = (text: string): ScriptedReply => ({ text, calls: [] })

const sayAndEnd = (text: string, outcome: string): ScriptedReply => ({
  text,
  calls: [{ name: 'end_call', arguments: { outcome } }],
})

const decide = (
  heard: string,
  memory: Memory,
  options: DialogueOptions,
  answers: readonly ScriptedAnswer[],
): ScriptedReply => {
  const words = heard.toLowerCase()
  if (asksNeverToBeCalled(heard)) return optOut
  if (words.replaceAll(unrecognisedText, '').trim() === '') return misunderstood(memory)
  const scripted = answers.find(({ topic }) => words.includes(topic))
  if (scripted) return scripted.reply
  return (rules.find((rule) => rule.heard.test(words)) ?? fallback).reply(memory, options)
}

const optOut: ScriptedReply = {
  text: 'I understand. We will not call you again. Goodbye.',
  calls: [
    { name: 'opt_out', arguments: {} },
    { name: 'end_call', arguments: { outcome: 'opted_out' } },
  ],
}

const misunderstood = (memory: Memory): ScriptedReply => {
  memory.misunderstood += 1
  return memory.misunderstood < maxMisunderstandings
    ? say('Sorry, I did not catch that. Could you say it again, please?')
    : sayAndEnd(
        'I am sorry, I cannot hear you well. I will try another time. Goodbye.',
        'inconclusive',
      )
}

/** Sent to the model when the transfer failed. */
export const transferFailedNote = '[the transfer failed]'

const transfer: ScriptedReply = {
  text: 'One moment, please. I will connect you.',
  calls: [{ name: 'transfer_call', arguments: {} }],
}

/** The first match in this order gives the reply. */
const rules: readonly Rule[] = [
  {
    heard: /\[the transfer failed\]/,
    reply: () => say('I am sorry, nobody can take your call right now. Shall we go on?'),
  },
  {
    heard: /screening|(?:say|record) your name|who is calling and why/,
    reply: (_memory, { instructions }) =>
      say(`This is ${nameOf(instructions)}. ${purposeOf(instructions)}`),
  },
  {
    heard: /transfer me|connect me|put me through|(?:speak|talk) (?:to|with) (?:a|some|your)/,
    reply: (_memory, { tools }) =>
      tools.has('transfer_call')
        ? transfer
        : say('I am sorry, I cannot connect you. Can I help you myself?'),
  },
  {
    heard:
      /voicemail|leave (?:me )?(?:a|your) message|after the (?:tone|beep)|not available right now/,
    reply: () => ({ text: '', calls: [{ name: 'voicemail_detected', arguments: {} }] }),
  },
  {
    heard: /wrong number/,
    reply: () => sayAndEnd('I am sorry for the disturbance. Goodbye.', 'wrong_number'),
  },
  {
    heard: /not interested|no,? thank you|no thanks/,
    reply: () => sayAndEnd('I understand. Thank you for your time. Goodbye.', 'not_achieved'),
  },
  {
    heard: /call (?:me )?back|another time|driving|busy right now|call (?:me )?tomorrow|next week/,
    reply: () =>
      sayAndEnd(
        'Of course, we will call you again at a better time. Goodbye.',
        'callback_requested',
      ),
  },
  {
    heard: /goodbye|\bbye\b|see you/,
    reply: ({ hasAgreed }) =>
      sayAndEnd('Thank you for your time. Goodbye.', hasAgreed ? 'achieved' : 'inconclusive'),
  },
  {
    heard:
      /what is (?:it|this) about|what's (?:it|this) about|why are you calling|what do you want/,
    reply: (_memory, { instructions }) => say(purposeOf(instructions)),
  },
  {
    heard:
      /who is (?:this|calling|speaking)|who are you|did not hear|say (?:that|it) again|what time/,
    reply: (_memory, { greeting }) => say(greeting() || 'This is the assistant of our office.'),
  },
  {
    heard: /robot|a machine|artificial|real person/,
    reply: () => say('Yes, I am an artificial assistant. I call on behalf of our office.'),
  },
  {
    heard: /who gave you|where did you get/,
    reply: () => say('You gave us this number yourself when you asked for a call.'),
  },
  {
    heard: /how much|cost|price/,
    reply: () => say('There is no charge for you. Shall we go on?'),
  },
  {
    heard: /hold on|one (?:second|moment)|wait a/,
    reply: () => say('Of course, take your time.'),
  },
  {
    heard: /sounds good|works for me|that is fine|that's fine|\byes\b|\bsure\b|\bokay\b|is better/,
    reply: agree,
  },
  {
    heard: /^no\b|cannot make it|can't make it/,
    reply: () => say('I see. Would Thursday afternoon be better for you?'),
  },
  {
    // Called into the line, most often while the greeting already plays.
    heard: /^(?:hello\W*)+$/,
    reply: ({ turns }, { greeting }) => {
      if (greeting() === '') return say('Hello, this is your assistant. Do you have a minute?')
      return say(turns === 1 ? '' : 'Yes, I am here.')
    },
  },
  {
    heard: /speaking|this is (?:she|he)|hello|\bhi\b/,
    reply: ({ turns }, { greeting }) =>
      say(
        turns === 1 ? 'Nice to meet you. Do you have a minute?' : greeting() || 'Yes, I am here.',
      ),
  },
]

function agree(memory: Memory): ScriptedReply {
  if (memory.hasAgreed) return sayAndEnd('Wonderful. Thank you for your time. Goodbye.', 'achieved')
  memory.hasAgreed = true
  return say('Great, I have written that down. Is there anything else I can do for you?')
}

const listening = ['I see.', 'Thank you for telling me.', 'That is good to know.', 'Please go on.']

const fallback: Pick<Rule, 'reply'> = {
  reply: ({ turns }) => say(listening[turns % listening.length] ?? ''),
}

/**
 * A sentence of the prompt such as `Purpose: to confirm the appointment.` gives the reason for the
 * call.
 */
const purposeOf = (instructions: string): string => {
  const label = [...instructions.matchAll(/\b(?:purpose|goal)\s*:/gi)].find(({ index }) =>
    beginsSentence(instructions, index),
  )
  const purpose =
    label &&
    instructions
      .slice(label.index + label[0].length)
      .trimStart()
      .split(/[\n.]/, 1)[0]
      ?.trim()
  if (purpose) return `I am calling ${/^to /i.test(purpose) ? '' : 'about '}${purpose}.`
  return 'It is about your appointment. Would Tuesday morning suit you?'
}

const beginsSentence = (text: string, at: number): boolean => {
  let start = at
  while (start > 0 && /[^\S\n]/.test(text[start - 1] ?? '')) start -= 1
  return start === 0 || text[start - 1] === '.' || text[start - 1] === '\n'
}

/** A line of the prompt such as `You are "Ann of Riverside Dental".` names the caller. */
const nameOf = (instructions: string): string =>
  /\byou are "([^"]{1,200})"/i.exec(instructions)?.[1]?.trim() ?? 'the assistant of our office'

interface ScriptedAnswer {
  readonly topic: string
  readonly reply: ScriptedReply
}

const maxScriptedAnswers = 50

/**
 * Lines of the prompt that are followed: `If asked about parking, say "There is a garage next
 * door."`, and likewise `…, press "12#"` and `…, transfer the call`.
 */
const scriptedAnswers = (instructions: string): ScriptedAnswer[] =>
  [...instructions.matchAll(scriptedAnswer)]
    .slice(0, maxScriptedAnswers)
    .map(([, topic = '', text, digits]) => ({
      topic: topic.trim().toLowerCase(),
      reply: text !== undefined ? say(text) : digits !== undefined ? press(digits) : transfer,
    }))

const scriptedAnswer =
  /if asked about ([^",]{1,80}),? (?:say "([^"]{1,500})"|press "([0-9A-D*#]{1,32})"|transfer the call)/gi

const press = (digits: string): ScriptedReply => ({
  text: '',
  calls: [{ name: 'send_dtmf', arguments: { digits } }],
})
