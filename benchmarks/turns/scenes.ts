/** The labelled scenes of the benchmark of turns, and how each is judged. */
import type { Synthesizer } from '../../src/audio/flite.ts'
import { join, louder, noises, overLine, silence, spoken } from './sounds.ts'
import { question, type Played, type Scene } from './stage.ts'

export type Label =
  | 'backchannel'
  | 'interruption'
  | 'noise'
  | 'television words'
  | 'hello, agent first'
  | 'hello, agent waits'
  | 'number in groups'
  | 'echo'

export interface LabelledScene extends Scene {
  readonly label: Label
  readonly name: string
}

const backchannels = [
  'Uh-huh.',
  'Right.',
  'Okay.',
  'Yeah.',
  'I see.',
  'Mm-hmm.',
  'Sure.',
  'Got it.',
  'All right.',
  'Yes.',
  'Oh okay.',
  'Great.',
]
const interruptions = [
  'Wait, I have a question.',
  'Hold on a second, please.',
  'No, I already have an appointment.',
  'Sorry, can you repeat that?',
  'That is not what I asked.',
  'How much does it cost?',
  'I am driving right now.',
  'Stop, please stop talking.',
  'Could you speak a little slower?',
  'Who is this again?',
  'Can I bring my children?',
  'I do not have a car.',
]
const groups = ['Five five five.', 'One two three.', 'Four five six seven.']
const broadcast = 'The new railway between the two cities will open in spring.'
const hello = 'Hello?'

/** Everything that the scripted transcriber has to know. */
export const vocabulary = [...backchannels, ...interruptions, ...groups, broadcast, hello, question]

const greeting = 'Hello, this is Riverside Dental.'
const longGreeting =
  'Hello, this is Ann from Riverside Dental, and I am calling about the appointment that you asked for last week.'
const lines = [
  { name: 'clean line', noiseRms: 0, lostPart: 0, db: 0 },
  { name: 'soft voice', noiseRms: 20, lostPart: 0, db: -6 },
  { name: 'noisy line', noiseRms: 70, lostPart: 0, db: 0 },
  { name: '2 % loss', noiseRms: 20, lostPart: 0.02, db: 3 },
]
const intoReplyMs = 1_200

export const scenesOf = (synthesizer: Synthesizer): LabelledScene[] => {
  const ask = spoken(synthesizer, question)
  const inReply = (
    label: Label,
    name: string,
    sound: Int16Array,
    restMs = 2_500,
  ): LabelledScene => ({
    label,
    name,
    greeting,
    asks: ask,
    sound,
    soundAfterMs: intoReplyMs,
    restMs,
  })
  const onLines = (label: Label, texts: readonly string[], restMs: number): LabelledScene[] =>
    texts.flatMap((text, index) =>
      lines.map((line, at) => ({
        ...inReply(
          label,
          `${text} (${line.name})`,
          overLine(louder(spoken(synthesizer, text), line.db), {
            ...line,
            seed: index * 10 + at + 1,
          }),
          restMs,
        ),
        asks: louder(ask, line.db),
      })),
    )
  const number = join(...groups.flatMap((text) => [spoken(synthesizer, text), silence(550)]))
  return [
    ...onLines('backchannel', backchannels, 2_500),
    ...onLines('interruption', interruptions, 2_500),
    ...noises(synthesizer, 7).map(({ name, samples }) => inReply('noise', name, samples)),
    {
      ...inReply(
        'television words',
        'after a reply',
        louder(spoken(synthesizer, broadcast), -14),
        3_000,
      ),
      isAfterReply: true,
    },
    inReply('television words', 'in a reply', louder(spoken(synthesizer, broadcast), -14), 3_000),
    ...[0, 200, 400, 800].map((atMs): LabelledScene => ({
      label: 'hello, agent first',
      name: `after ${atMs} ms`,
      greeting: longGreeting,
      sound: spoken(synthesizer, hello),
      soundAfterMs: atMs,
      restMs: 9_000,
    })),
    ...[0, 200, 400, 800].map((atMs): LabelledScene => ({
      label: 'hello, agent waits',
      name: `after ${atMs} ms`,
      greeting: longGreeting,
      sound: spoken(synthesizer, hello),
      soundAfterMs: atMs,
      restMs: 9_000,
      firstWords: 'wait',
    })),
    {
      label: 'number in groups',
      name: 'pauses of 550 ms',
      greeting: 'What is your phone number?',
      asks: number,
      sound: silence(20),
      soundAfterMs: 0,
      restMs: 3_000,
    },
    ...[
      { db: -20, delayMs: 200 },
      { db: -26, delayMs: 400 },
      { db: -14, delayMs: 100 },
    ].map((echo): LabelledScene => ({
      label: 'echo',
      name: `${echo.db} dB, ${echo.delayMs} ms`,
      greeting: `${longGreeting} ${longGreeting}`,
      sound: silence(20),
      soundAfterMs: 11_000,
      restMs: 2_000,
      echo,
    })),
  ]
}

export interface Verdict {
  readonly isCut: boolean
  /** From the onset of the sound to the cut. */
  readonly cutAfterMs: number | undefined
  /** From the onset to the last frame of the speech that was cut: silent for good. */
  readonly silentAfterMs: number | undefined
  /** From the onset to the agent's last frame before it pauses. */
  readonly pausedAfterMs: number | undefined
  /** The longest silence of the agent after the onset that ends with its speech. */
  readonly gapMs: number
  readonly overlapMs: number
  readonly contactTurns: number
  readonly agentTurns: number
}

const frameMs = 20
/** A pause of the agent's own speech is shorter. */
const leastGapMs = 260

export const judge = ({ label }: LabelledScene, played: Played): Verdict => {
  const { soundAtMs, cutsMs, agentVoiced, calleeVoiced, turns } = played
  const from = Math.floor(soundAtMs / frameMs)
  const cutAt = label === 'echo' ? cutsMs[0] : cutsMs.find((at) => at >= soundAtMs)
  const overlap = agentVoiced.filter((isVoiced, at) => isVoiced && calleeVoiced[at]).length
  const since = label === 'number in groups' ? 0 : soundAtMs - 200
  return {
    isCut: cutAt !== undefined,
    cutAfterMs: cutAt === undefined ? undefined : cutAt - soundAtMs,
    silentAfterMs:
      cutAt === undefined
        ? undefined
        : (agentVoiced.lastIndexOf(true, Math.floor(cutAt / frameMs)) + 1) * frameMs - soundAtMs,
    pausedAfterMs: firstPause(agentVoiced, from),
    gapMs: longestGap(agentVoiced, from),
    overlapMs: overlap * frameMs,
    contactTurns: turns.filter((turn) => turn.speaker === 'contact' && turn.audioOffsetMs >= since)
      .length,
    agentTurns: turns.filter(({ speaker }) => speaker === 'agent').length,
  }
}

const firstPause = (agent: readonly boolean[], from: number): number | undefined => {
  let last = from - 1
  for (let at = from; at < agent.length; at += 1) {
    if (agent[at]) last = at
    else if ((at - last) * frameMs >= leastGapMs) return (last + 1 - from) * frameMs
  }
  return undefined
}

const longestGap = (agent: readonly boolean[], from: number): number => {
  let longest = 0
  let last = from
  for (let at = from; at < agent.length; at += 1) {
    if (!agent[at]) continue
    longest = Math.max(longest, at - last - 1)
    last = at
  }
  return longest * frameMs
}
