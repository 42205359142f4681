import type { FliteVoice } from '../../../src/audio/flite-speech.ts'
import type { Synthesizer } from '../../../src/audio/flite.ts'
import { decodeG711, encodeG711 } from '../../../src/audio/g711.ts'
import { resample } from '../../../src/audio/resample.ts'
import {
  beep,
  busyTone,
  joinSamples,
  silence,
  sine,
  specialInformationTone,
  sumOfSines,
} from '../../../src/audio/tones.ts'

/**
 * Synthetic, labelled answers: a regression set, which proves nothing about real telephone lines.
 */
export interface LabelledAnswer {
  readonly name: string
  readonly label: 'person' | 'voicemail' | 'screening' | 'busy' | 'unobtainable' | 'fax'
  /** 8 kHz, after G.711. */
  readonly samples: Int16Array
  /** What an engine would understand, turn by turn, and when it would report it. */
  readonly turns: readonly { readonly text: string; readonly atMs: number }[]
}

interface Part {
  readonly text?: string
  readonly samples: Int16Array
}

const persons = [
  'Hello?',
  'Yes?',
  'Hi, this is Anna.',
  'Good morning, Smith speaking.',
  'Who is it?',
  'Hello, Acme Plumbing, how can I help you?',
  'Speaking.',
  'Hold on a second, please.',
]

/** A receptionist says long sentences, and some phrases that machines use. */
const longPersons = [
  'Thank you for calling Riverside Dental Care, this is Maria speaking, how may I help you today?',
  'I am sorry, he is not available right now. Would you like to leave a message, or shall I have him call you?',
]

const machines: readonly (readonly [text: string, beepHz: number, beepMs: number])[] = [
  [
    'Hi, you have reached the voicemail of John Smith. I am not available right now. Please leave a message after the tone.',
    1000,
    500,
  ],
  [
    'Your call has been forwarded to an automatic voice message system. At the tone, please record your message.',
    850,
    250,
  ],
  [
    'The person you are calling cannot take your call now. Leave a message after the beep.',
    1400,
    180,
  ],
  ['Hi, this is Mary. Leave a message.', 2000, 400],
  [
    'We are closed at the moment. Our office hours are nine to five. Please leave your message after the tone.',
    440,
    300,
  ],
  ['Sorry I missed you. You know what to do.', 620, 900],
]

const screenings = [
  'Hi. If you record your name and reason for calling, I will see if this person is available.',
  'Hi, the person you are calling is using a screening service. Go ahead and say your name and why you are calling.',
]

/** Deterministic, so that a failure repeats: a linear congruential generator. */
const noise = (samples: Int16Array, amplitude: number, seed: number): Int16Array => {
  let state = seed
  return samples.map((sample) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    const disturbance = ((state >>> 8) / 0x7f_ffff - 0.5) * 2 * amplitude
    return Math.max(-32_768, Math.min(32_767, Math.round(sample + disturbance)))
  })
}

const transmitted = (samples: Int16Array, amplitude: number, seed: number): Int16Array =>
  decodeG711('pcmu', encodeG711('pcmu', noise(samples, amplitude, seed)))

const lineNoises = [0, 60]
const understandingMs = 600

const compose = (
  name: string,
  label: LabelledAnswer['label'],
  parts: readonly Part[],
): LabelledAnswer[] =>
  lineNoises.map((amplitude, index) => {
    let endMs = 0
    const turns = parts.flatMap(({ text, samples }) => {
      endMs += samples.length / 8
      return text === undefined ? [] : [{ text, atMs: endMs + understandingMs }]
    })
    const joined = joinSamples(parts.map(({ samples }) => samples))
    const samples = transmitted(joined, amplitude, name.length * 31 + index)
    return { name: `${name} (noise ${amplitude})`, label, samples, turns }
  })

const pause = (ms: number): Part => ({ samples: silence(ms) })
const tone = (samples: Int16Array): Part => ({ samples })

/** European busy tone: 425 Hz, half a second on and off. */
const europeanBusyTone = (): Int16Array =>
  joinSamples(Array.from({ length: 5 }, () => joinSamples([sine(425, 500), silence(500)])))

const ringingTone = (): Int16Array =>
  joinSamples(
    Array.from({ length: 3 }, () =>
      joinSamples([sumOfSines([440, 480], 2000, 5000), silence(4000)]),
    ),
  )

const faxCalling = (): Int16Array =>
  joinSamples(Array.from({ length: 3 }, () => joinSamples([sine(1100, 500), silence(3000)])))

/** 2100 Hz with a phase reversal every 450 ms, as modems send it (ITU-T V.25). */
const modemAnswer = (): Int16Array =>
  sine(2100, 3300).map((sample, at) => (Math.floor(at / 3600) % 2 === 0 ? sample : -sample))

const spoken = (synthesizer: Synthesizer): LabelledAnswer[] => {
  const say = (text: string, voice: FliteVoice): Part => {
    const { samples, sampleRateHz } = synthesizer.synthesize(text, voice)
    return { text, samples: resample(samples, sampleRateHz, 8000) }
  }
  const voices: readonly FliteVoice[] = ['kal', 'awb', 'slt', 'rms']
  const voiceOf = (index: number): FliteVoice => voices[index % voices.length] ?? 'kal'
  return [
    ...persons.flatMap((text, index) =>
      compose(text, 'person', [
        pause(500),
        say(text, voiceOf(index)),
        pause(3000),
        say('Yes, that is me. What is it about?', voiceOf(index)),
        pause(3000),
      ]),
    ),
    ...longPersons.flatMap((text, index) =>
      compose(text, 'person', [pause(600), say(text, voiceOf(index + 1)), pause(4000)]),
    ),
    ...compose('a person beside a microwave oven', 'person', [
      pause(400),
      say('Hello?', 'slt'),
      pause(2500),
      say('Yes, this is she.', 'slt'),
      pause(1500),
      tone(sine(2000, 400)),
      pause(600),
      tone(sine(2000, 400)),
      pause(2000),
    ]),
    ...machines.flatMap(([text, hz, ms], index) =>
      compose(text, 'voicemail', [
        pause(500),
        say(text, voiceOf(index)),
        pause(300),
        tone(sine(hz, ms)),
        pause(2500),
      ]),
    ),
    ...screenings.flatMap((text, index) =>
      compose(text, 'screening', [pause(400), say(text, voiceOf(index)), pause(3000)]),
    ),
    ...compose('a number out of service', 'unobtainable', [
      tone(specialInformationTone()),
      pause(200),
      say('The number you have dialed is not in service.', 'kal'),
      pause(2000),
    ]),
    ...compose('an announcement without tones', 'unobtainable', [
      pause(300),
      say('The number you have dialed has been disconnected.', 'rms'),
      pause(2000),
    ]),
  ]
}

const unspoken = (): LabelledAnswer[] => [
  ...compose('busy tone', 'busy', [tone(busyTone(5))]),
  ...compose('European busy tone', 'busy', [tone(europeanBusyTone())]),
  ...compose('information tone alone', 'unobtainable', [
    tone(specialInformationTone()),
    pause(1000),
  ]),
  ...compose('fax answers', 'fax', [pause(800), tone(sine(2100, 3300)), pause(500)]),
  ...compose('modem answers', 'fax', [pause(1800), tone(modemAnswer()), pause(500)]),
  ...compose('fax calls', 'fax', [pause(500), tone(faxCalling())]),
  ...compose('an exchange that rings on', 'person', [tone(ringingTone())]),
  ...compose('silence', 'person', [pause(8000)]),
  ...compose('a tone that nobody spoke before', 'person', [pause(1000), tone(beep()), pause(3000)]),
  ...compose('hum', 'person', [tone(sine(150, 6000, 1500))]),
]

export const createLabelledAnswers = (synthesizer: Synthesizer): LabelledAnswer[] => [
  ...spoken(synthesizer),
  ...unspoken(),
]
