/** The persona at each sandbox number: the table of the operator manual, as data. */
export interface Persona {
  readonly number: string
  /** One line for people: the behaviour of this number. */
  readonly shows: string
  readonly answer: PersonaAnswer
}

export type PersonaAnswer =
  | { readonly kind: 'refuse'; readonly status: number; readonly reason: string }
  /** 503 with Retry-After on a call's first INVITE, answers the next. */
  | {
      readonly kind: 'congested_once'
      readonly retryAfterSeconds: number
      readonly afterwards: Answering
    }
  /** 180 until CANCEL. */
  | { readonly kind: 'ring_on' }
  | ({ readonly kind: 'answer' } & Answering)
  /** 407 with a digest challenge before anything rings. */
  | { readonly kind: 'challenge'; readonly afterwards: Answering }

export interface Answering {
  readonly ringMs: number
  readonly behaviour: Behaviour
}

export type Behaviour =
  /** Takes turns through its lines; after the last one lets the other side reply, and hangs up. */
  | { readonly kind: 'converse'; readonly lines: readonly string[] }
  /** Takes turns too, starting over with the first line, and never hangs up. */
  | { readonly kind: 'talk_on'; readonly lines: readonly string[] }
  /** Speaks at once, beeps, records in silence. */
  | { readonly kind: 'voicemail'; readonly greeting: string }
  | { readonly kind: 'silent' }
  | { readonly kind: 'hang_up'; readonly afterMs: number }

/** Said when the caller has been silent for a while after the answer. */
export const personaHello = 'Hello?'

const sam: Answering = {
  ringMs: 1000,
  behaviour: {
    kind: 'converse',
    lines: [
      'Hello, this is Sam speaking.',
      'Yes, I have a minute. What is it about?',
      'That sounds good. Tuesday morning works for me.',
      'Thank you for calling. Goodbye.',
    ],
  },
}

const talker: Behaviour = {
  kind: 'talk_on',
  lines: [
    'Let me tell you about my garden.',
    'The tomatoes are growing very well this summer.',
    'My neighbour keeps asking me for the recipe.',
    'And then there is the old apple tree behind the house.',
  ],
}

export const personas: readonly Persona[] = [
  {
    number: '+12025550100',
    shows: 'rings 1 s, answers, holds a short conversation, hangs up',
    answer: { kind: 'answer', ...sam },
  },
  {
    number: '+12025550101',
    shows: '486 Busy Here',
    answer: { kind: 'refuse', status: 486, reason: 'Busy Here' },
  },
  {
    number: '+12025550102',
    shows: 'rings, never answers',
    answer: { kind: 'ring_on' },
  },
  {
    number: '+12025550103',
    shows: 'voicemail greeting and a beep',
    answer: {
      kind: 'answer',
      ringMs: 1000,
      behaviour: {
        kind: 'voicemail',
        greeting:
          'You have reached the voicemail of Alex Morgan. I am not available right now. Please leave a message after the tone.',
      },
    },
  },
  {
    number: '+12025550104',
    shows: '404 Not Found',
    answer: { kind: 'refuse', status: 404, reason: 'Not Found' },
  },
  {
    number: '+12025550105',
    shows: '503 with Retry-After on the first INVITE of a call, answers the next',
    answer: { kind: 'congested_once', retryAfterSeconds: 1, afterwards: sam },
  },
  {
    number: '+12025550106',
    shows: 'answers and stays silent',
    answer: { kind: 'answer', ringMs: 500, behaviour: { kind: 'silent' } },
  },
  {
    number: '+12025550107',
    shows: 'answers and hangs up within 200 ms',
    answer: { kind: 'answer', ringMs: 500, behaviour: { kind: 'hang_up', afterMs: 100 } },
  },
  {
    number: '+12025550108',
    shows: 'answers and talks until the other side hangs up',
    answer: { kind: 'answer', ringMs: 500, behaviour: talker },
  },
  {
    number: '+12025550109',
    shows: '603 Decline',
    answer: { kind: 'refuse', status: 603, reason: 'Decline' },
  },
  {
    number: '+12025550110',
    shows: 'asks never to be called again',
    answer: {
      kind: 'answer',
      ringMs: 500,
      behaviour: {
        kind: 'converse',
        lines: ['Please never call me again. Take me off your list.'],
      },
    },
  },
  {
    number: '+12025550111',
    shows: '407 digest challenge, then answers',
    answer: { kind: 'challenge', afterwards: sam },
  },
]

const byNumber = new Map(personas.map((persona) => [persona.number, persona]))

/** The persona of a number; every number without its own behaves as +12025550100. */
export const personaFor = (number: string): Persona => byNumber.get(number) ?? personas[0]!

const answeringOf = (answer: PersonaAnswer): Answering | undefined => {
  switch (answer.kind) {
    case 'answer':
      return answer
    case 'congested_once':
    case 'challenge':
      return answer.afterwards
    case 'refuse':
    case 'ring_on':
      return undefined
  }
}

const linesOf = (behaviour: Behaviour): readonly string[] => {
  switch (behaviour.kind) {
    case 'converse':
    case 'talk_on':
      return behaviour.lines
    case 'voicemail':
      return [behaviour.greeting]
    case 'silent':
    case 'hang_up':
      return []
  }
}

/** Every sentence of these personas, each once. */
export const vocabularyOf = (speakers: readonly Persona[]): readonly string[] => [
  ...new Set([
    personaHello,
    ...speakers.flatMap(({ answer }) => {
      const answering = answeringOf(answer)
      return answering ? linesOf(answering.behaviour) : []
    }),
  ]),
]

/** The sentences that the sandbox engine can recognise. */
export const personaVocabulary: readonly string[] = vocabularyOf(personas)

/**
 * The credentials of +12025550111. The sandbox trunk is configured with them: they protect only a loopback socket.
 */
export const sandboxCredentials = { username: 'sandbox', password: 'outdial-sandbox' } as const

export const sandboxRealm = 'sandbox.outdial'

/** Header in which our own carrier names its call, so that INVITEs can be counted per call. */
export const callIdHeader = 'X-Outdial-Call-Id'
