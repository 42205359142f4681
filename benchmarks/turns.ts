/**
 * Turn-taking with both engines, in real time, against scripted servers: backchannels, interruptions, noises, a
 * "Hello?" at pick-up, a number spoken in groups, echo. Usage: `npm run bench turns -- [--engine-turns] [--details]
 * [--only=LABEL] [--recordings=FOLDER]`. `--engine-turns`: the engines find the ends of turns, as without this loop.
 * A folder of recordings holds WAV files of 8 kHz and `labels.json`: `[{"file", "label"}]`.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSynthesizer } from '../src/audio/flite.ts'
import { readWav } from '../src/audio/wav.ts'
import type { VoiceEngine } from '../src/conversation/engine/voice-engine.ts'
import { createCascadeEngine } from '../src/conversation/engines/cascade/cascade-engine.ts'
import { createRealtimeEngine } from '../src/conversation/engines/realtime/realtime-engine.ts'
import { ScriptedRealtimeServer } from '../src/conversation/engines/scripted/scripted-realtime-server.ts'
import { silentLogger as logger } from '../src/runtime/logger.ts'
import {
  judge,
  scenesOf,
  vocabulary,
  type Label,
  type LabelledScene,
  type Verdict,
} from './turns/scenes.ts'
import { playScene } from './turns/stage.ts'

const atOnce = 12
const option = (name: string): string | undefined =>
  process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3)
const isLoops = !process.argv.includes('--engine-turns')
const showsDetails = process.argv.includes('--details')

interface Judged {
  readonly engine: string
  readonly scene: LabelledScene
  readonly verdict: Verdict
}

const quantile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN
}

const most = (values: readonly number[]): number => Math.max(0, ...values)
const percent = (part: number): string => `${(part * 100).toFixed(1)} %`

/** One line of the table: the figures of a label, and whether they meet the goals. */
const rows: Readonly<
  Record<Label, (verdicts: readonly Verdict[]) => [text: string, met: boolean]>
> = {
  backchannel(verdicts) {
    const part = verdicts.filter(({ isCut }) => isCut).length / verdicts.length
    const gap = quantile(
      verdicts.map(({ gapMs }) => gapMs),
      0.95,
    )
    return [`cut ${percent(part)} (≤ 5 %), gap p95 ${gap} ms`, part <= 0.05]
  },
  interruption(verdicts) {
    const cut = verdicts.flatMap(({ cutAfterMs }) => cutAfterMs ?? [])
    const part = cut.length / verdicts.length
    const paused = quantile(
      verdicts.flatMap(({ pausedAfterMs }) => pausedAfterMs ?? Infinity),
      0.95,
    )
    const p95 = quantile(
      verdicts.flatMap(({ silentAfterMs }) => silentAfterMs ?? []),
      0.95,
    )
    const decided = quantile(cut, 0.95)
    const isMet = part >= 0.98 && p95 <= 700 && paused <= 120
    return [
      `yielded ${percent(part)} (≥ 98 %), silent for good p95 ${p95} ms (≤ 700), paused p95 ${paused} ms (≤ 120), cut p95 ${decided} ms`,
      isMet,
    ]
  },
  noise(verdicts) {
    const cut = verdicts.filter(({ isCut }) => isCut).length
    const gap = most(verdicts.map(({ gapMs }) => gapMs))
    return [
      `cut ${cut} of ${verdicts.length} (0), longest gap ${gap} ms (≤ 1200)`,
      cut === 0 && gap <= 1_200,
    ]
  },
  'television words'(verdicts) {
    const turns = verdicts.reduce((sum, { contactTurns }) => sum + contactTurns, 0)
    const cut = verdicts.filter(({ isCut }) => isCut).length
    return [`turns ${turns} (0), cut ${cut} (0)`, turns === 0 && cut === 0]
  },
  'hello, agent first': (verdicts) => greetings(verdicts, 120),
  'hello, agent waits': (verdicts) => greetings(verdicts, 40),
  'number in groups'(verdicts) {
    const turns = most(verdicts.map(({ contactTurns }) => contactTurns))
    return [`turns ${turns} (1)`, turns === 1]
  },
  echo(verdicts) {
    const cut = verdicts.filter(({ isCut }) => isCut).length
    const gap = most(verdicts.map(({ gapMs }) => gapMs))
    return [`cut ${cut} of ${verdicts.length} (0), longest gap ${gap} ms`, cut === 0]
  },
}

const greetings = (verdicts: readonly Verdict[], limitMs: number): [string, boolean] => {
  const overlap = most(verdicts.map(({ overlapMs }) => overlapMs))
  const twice = verdicts.filter(({ agentTurns }) => agentTurns > 1).length
  const turns = verdicts.reduce((sum, { contactTurns }) => sum + contactTurns, 0)
  return [
    `overlap at most ${overlap} ms (≤ ${limitMs}), greeted twice ${twice} (0), turns ${turns} (0)`,
    overlap <= limitMs && twice === 0 && turns === 0,
  ]
}

const recorded = async (folder: string, like: LabelledScene): Promise<LabelledScene[]> => {
  const labels = JSON.parse(await readFile(join(folder, 'labels.json'), 'utf8')) as {
    readonly file: string
    readonly label: Label
  }[]
  return Promise.all(
    labels.map(async ({ file, label }) => {
      const { samples } = readWav(await readFile(join(folder, file)))
      return { ...like, label, name: file, sound: samples }
    }),
  )
}

const main = async (): Promise<void> => {
  const server = new ScriptedRealtimeServer({ vocabulary, logger })
  await server.start()
  const url = server.httpUrl
  const engines: readonly VoiceEngine[] = [
    createRealtimeEngine({ url: server.url, logger }),
    createCascadeEngine({
      stt: [{ name: 'env', id: 'stt', kind: 'openai-stt', url }],
      llm: [{ name: 'env', id: 'llm', kind: 'openai-chat', url }],
      tts: [{ name: 'env', id: 'tts', kind: 'openai-tts', url }],
      logger,
    }),
  ]
  const own = scenesOf(createSynthesizer())
  const folder = option('recordings')
  const scenes = folder === undefined ? own : [...own, ...(await recorded(folder, own[0]!))]
  const only = option('only')
  const chosen = scenes.filter(({ label }) => only === undefined || label.includes(only))
  const judged = await playAll(engines, chosen)
  await server.stop()
  report(judged)
}

const playAll = async (
  engines: readonly VoiceEngine[],
  scenes: readonly LabelledScene[],
): Promise<Judged[]> => {
  const waiting = engines.flatMap((engine) => scenes.map((scene) => ({ engine, scene })))
  const judged: Judged[] = []
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const played = await playScene(next.engine, next.scene, isLoops)
      const verdict = judge(next.scene, played)
      judged.push({ engine: next.engine.name, scene: next.scene, verdict })
      if (!showsDetails) continue
      const turns = played.turns.map(({ speaker, text }) => `${speaker}: ${text.slice(0, 40)}`)
      console.log(
        next.engine.name,
        next.scene.label,
        next.scene.name,
        JSON.stringify(verdict),
        turns.join(' | '),
      )
    }
  }
  await Promise.all(Array.from({ length: atOnce }, () => work()))
  return judged
}

const report = (judged: readonly Judged[]): void => {
  let met = 0
  let all = 0
  for (const engine of new Set(judged.map((each) => each.engine))) {
    for (const label of Object.keys(rows) as Label[]) {
      const verdicts = judged
        .filter((each) => each.engine === engine && each.scene.label === label)
        .map(({ verdict }) => verdict)
      if (verdicts.length === 0) continue
      const [text, isMet] = rows[label](verdicts)
      all += 1
      if (isMet) met += 1
      console.log(
        `${engine.padEnd(9)} ${label.padEnd(19)} ${String(verdicts.length).padStart(3)}  ${text}  ${isMet ? 'met' : 'NOT MET'}`,
      )
    }
  }
  console.log(`turns: ${met} of ${all} goals met  (goal ${all} of ${all})`)
}

await main()
