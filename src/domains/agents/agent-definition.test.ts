import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { minimalAgentFile } from '../../../tests/support/organization-fixture.ts'
import { InvalidFileError } from '../organizations/invalid-file.ts'
import { checkAgentFile } from './agent-definition.ts'
import { textsForContact } from './texts-for-contact.ts'

const lookUp = {
  name: 'look_up',
  description: 'Finds the order.',
  parameters: { type: 'object', properties: { order: { type: 'string' } } },
  method: 'POST',
  url: 'https://orders.example/find',
}

const transfer = { builtin: 'transfer_call', to: '+12025550100' }

const problemsOf = (members: object): string[] => {
  try {
    checkAgentFile({ ...minimalAgentFile, ...members })
  } catch (error) {
    assert.ok(error instanceof InvalidFileError)
    return error.problems.map(({ path, message }) => `${path}: ${message}`)
  }
  return []
}

describe('an agent file', () => {
  it('needs four members, and gets its defaults', () => {
    assert.deepEqual(checkAgentFile(minimalAgentFile), {
      ...minimalAgentFile,
      language: 'en-US',
      max_duration_seconds: 900,
    })
  })

  it('may say who speaks when, by known words only', () => {
    const turnTaking = {
      first_words: 'wait',
      patience: 'long',
      interruption_sensitivity: 'low',
      backchannel_words: ['roger'],
      detection: 'outdial',
    }
    assert.deepEqual(problemsOf({ turn_taking: turnTaking }), [])
    const wrong = problemsOf({ turn_taking: { patience: 'endless', backchannel_words: [''] } })
    assert.deepEqual(wrong.map((problem) => problem.slice(0, problem.indexOf(':'))).toSorted(), [
      'turn_taking.backchannel_words[0]',
      'turn_taking.patience',
    ])
  })

  it('may have every member', () => {
    const file = {
      ...minimalAgentFile,
      description: 'Reminds.',
      language: 'de-DE',
      voice: 'alloy',
      max_duration_seconds: 3600,
      voicemail: 'leave_message',
      voicemail_message: 'Please call us back, {{contact.name}}.',
      outcomes: [{ slug: 'confirmed', description: 'They will come.' }],
      tools: [
        { ...lookUp, headers: { 'X-Key': 'abc' }, timeout_ms: 2000 },
        { builtin: 'transfer_call', to: '+12025550100' },
      ],
      engine: { kind: 'realtime', model: 'm', voice: 'v', url: 'wss://models.example/v1' },
    }
    assert.deepEqual(checkAgentFile(file), file)
  })

  it('is trimmed, and its language is canonicalized', () => {
    const checked = checkAgentFile({ ...minimalAgentFile, name: ' A\u3000', language: 'EN-us' })
    assert.deepEqual([checked.name, checked.language], ['A', 'en-US'])
  })

  it('is refused with every problem at once', () => {
    assert.throws(() => checkAgentFile({ voicemail: 'leave_message' }), {
      message: [
        'name: It is required.',
        'greeting: It is required.',
        'prompt: It is required.',
        'voicemail_message: It is required where voicemail is "leave_message".',
      ].join('\n'),
    })
  })

  it('is refused for repetitions beside other errors', () => {
    assert.deepEqual(
      problemsOf({
        voice: 5,
        outcomes: [{ slug: 'sold' }, { slug: 'sold', description: 'x' }],
        tools: [{ ...lookUp, method: 'LOOK' }, lookUp],
        engine: { kind: 'cascade', url: 'wss://example.com/v1', model: 5 },
      }),
      [
        'voice: It must be text.',
        'outcomes[0].description: It is required.',
        'outcomes[1].slug: Another outcome has this slug.',
        'tools[0].method: It must be one of "GET", "POST", "PUT", "PATCH", "DELETE".',
        'tools[1].name: Another tool has this name.',
        'engine.model: It must be text.',
        'engine.url: The cascade engine needs a URL of http or https.',
      ],
    )
  })

  const slugRule =
    'It must begin with a small letter, then small letters, digits or "_", at most 64 in all.'
  const refused: readonly [object, string][] = [
    [{ name: '' }, 'name: It must be at least 1 character long.'],
    [{ name: 'x'.repeat(201) }, 'name: It must be at most 200 characters long.'],
    [{ name: 5 }, 'name: It must be text.'],
    [{ prompt: ' ' }, 'prompt: It must be at least 1 character long.'],
    [{ prompt: 'a\u0000b' }, 'prompt: It holds a NUL or half a surrogate pair.'],
    [{ language: 'e_' }, 'language: It must be a BCP 47 language tag, such as "en-US".'],
    [{ max_duration_seconds: 9 }, 'max_duration_seconds: It must be at least 10.'],
    [{ max_duration_seconds: 3601 }, 'max_duration_seconds: It must be at most 3600.'],
    [{ max_duration_seconds: 60.5 }, 'max_duration_seconds: It must be a whole number.'],
    [{ voicemail: 'talk' }, 'voicemail: It must be one of "hang_up", "leave_message".'],
    [
      { voicemail: 'leave_message' },
      'voicemail_message: It is required where voicemail is "leave_message".',
    ],
    [{ outcomes: [{ slug: 'Bad', description: 'x' }] }, `outcomes[0].slug: ${slugRule}`],
    [
      { outcomes: [{ slug: 'achieved', description: 'x' }] },
      'outcomes[0].slug: Every agent has this outcome already.',
    ],
    [
      {
        outcomes: [
          { slug: 'a', description: 'x' },
          { slug: 'a', description: 'y' },
        ],
      },
      'outcomes[1].slug: Another outcome has this slug.',
    ],
    [
      { tools: [{ ...lookUp, url: 'ftp://x' }] },
      'tools[0].url: It must be a URL of http or https.',
    ],
    [
      { tools: [{ ...lookUp, name: 'end_call' }] },
      'tools[0].name: Every agent has a tool of this name already.',
    ],
    [
      { tools: [{ ...lookUp, parameters: { type: 'string' } }] },
      'tools[0].parameters: It must be a JSON Schema of type "object" of at most 16 KiB.',
    ],
    [
      { tools: [{ ...lookUp, headers: { 'X-Key': 'a\r\nHost: b' } }] },
      'tools[0].headers.X-Key: It must be one line of at most 4096 characters.',
    ],
    ...[
      'Content-Length',
      'transfer-encoding',
      'Connection',
      'HOST',
      'Upgrade',
      'TE',
      'Trailer',
      'Keep-Alive',
      'Proxy-Authorization',
      'Proxy-Connection',
      'Expect',
    ].map((name): [object, string] => [
      { tools: [{ ...lookUp, headers: { [name]: '5' } }] },
      `tools[0].headers.${name}: The connection sets this header itself.`,
    ]),
    [
      { tools: [{ ...lookUp, headers: { 'X-Key': 'a\0b' } }] },
      'tools[0].headers.X-Key: It must be one line of at most 4096 characters.',
    ],
    [
      { tools: [{ ...lookUp, headers: { 'X Key': 'a' } }] },
      'tools[0].headers.X Key: This is no name of an HTTP header.',
    ],
    [
      { tools: [{ ...lookUp, url: 'https://example.com/{id}/{order}?x={id}' }] },
      'tools[0].url: "{id}" is no property of the tool\'s parameters.',
    ],
    [
      { engine: { kind: 'cascade', url: 'wss://example.com/v1' } },
      'engine.url: The cascade engine needs a URL of http or https.',
    ],
    [{ tools: [{ ...lookUp, shell: 'rm' }] }, 'tools[0].shell: There is no member of this name.'],
    [{ tools: [lookUp, lookUp] }, 'tools[1].name: Another tool has this name.'],
    [{ tools: [transfer, transfer] }, 'tools[1].builtin: It is configured already.'],
    [
      { tools: [{ ...lookUp, url: 'https://{order}.example/' }] },
      'tools[0].url: No argument may stand in the host.',
    ],
    [{ description: [] }, 'description: It must be text.'],
    [{ engine: { kind: 'cascade', url: { toString: 1 } } }, 'engine.url: It must be text.'],
    [
      { engine: { kind: 'realtime', stt: ['a'] } },
      'engine: Only a cascade without a URL of its own names providers.',
    ],
    [
      { engine: { kind: 'cascade', url: 'https://a.example/v1', tts: ['a'] } },
      'engine: Only a cascade without a URL of its own names providers.',
    ],
    [{ engine: { kind: 'cascade', stt: ['a', 'a'] } }, 'engine.stt: It names a provider twice.'],
    [
      { engine: { kind: 'cascade', stt: ['A b'] } },
      'engine.stt[0]: It must be the name of a provider.',
    ],
    [{ tools: [3] }, 'tools[0]: It must be an object.'],
    [
      { tools: [{ builtin: 'transfer_call', to: 'Bob' }] },
      'tools[0].to: It must be an E.164 number, such as "+12025550123", a SIP address of one, or an extension, such as "sip:200@pbx.example.com".',
    ],
    [
      { tools: [{ builtin: 'end_call', to: '+12025550100' }] },
      'tools[0].builtin: It must be one of "transfer_call".',
    ],
    [
      { engine: { kind: 'magic' } },
      'engine.kind: It must be one of "sandbox", "realtime", "cascade".',
    ],
    [
      { engine: { kind: 'cascade', url: 'file:///etc/passwd' } },
      'engine.url: It must be a URL of ws, wss, http or https.',
    ],
    [{ greetings: 'Hi' }, 'greetings: There is no member of this name.'],
  ]
  for (const [members, problem] of refused) {
    it(`is refused: ${problem}`, () => assert.deepEqual(problemsOf(members), [problem]))
  }

  for (const member of ['greeting', 'prompt', 'voicemail_message']) {
    it(`is refused for an unknown variable in its ${member}`, () => {
      const [problem, ...others] = problemsOf({ [member]: 'Hi {{contact.nickname}}' })
      assert.match(problem ?? '', new RegExp(`^${member}: There is no variable "contact.nickname"`))
      assert.deepEqual(others, [])
    })
  }
})

describe('the texts of an agent for a contact', () => {
  const agent = checkAgentFile({ ...minimalAgentFile, voicemail_message: 'Bye {{contact.name}}' })

  it('contain the contact’s fields', () => {
    const { now, ...texts } = textsForContact(agent, { name: 'Ada' })
    assert.match(now, /^It is now /)
    assert.deepEqual(texts, {
      greeting: 'Hello Ada.',
      prompt: minimalAgentFile.prompt,
    })
  })

  it('contain a voicemail message only if the agent leaves one', () => {
    const leaving = { ...agent, voicemail: 'leave_message' } as const
    assert.equal(textsForContact(leaving, { name: 'Ada' }).voicemailMessage, 'Bye Ada')
  })
})
