import { z } from 'zod'
import type { VoiceActivityDetector } from '../../../audio/voice-activity.ts'
import type { G711Codec } from '../../../audio/g711.ts'
import { createWireAudio, g711Wire, pcmWire, type WireAudio } from '../realtime/wire-audio.ts'
import { createDialogue, type Dialogue } from './dialogue.ts'
import { createSpeechEar, type SpeechEar } from '../../engine/speech-ear.ts'

/** The configuration of a session of the scripted model. */
export interface ScriptedSettings {
  readonly codec: G711Codec
  readonly input: WireAudio
  readonly output: WireAudio
  readonly voice: string | undefined
  readonly ear: SpeechEar
  readonly dialogue: Dialogue
  /** Whether the model replies by itself when the callee has finished. */
  readonly createsResponses: boolean
  /** Whether it stops by itself when the callee begins to speak. */
  readonly isInterruptible: boolean
}

const defaultSilenceMs = 500
const pcmRateHz = 24_000

const format = z
  .object({ type: z.enum(['audio/pcmu', 'audio/pcma', 'audio/pcm']) })
  .default({ type: 'audio/pcm' })

const turnDetection = z
  .object({
    silence_duration_ms: z.number().min(100).max(5_000).default(defaultSilenceMs),
    create_response: z.boolean().default(true),
    interrupt_response: z.boolean().default(true),
  })
  .prefault({})

const sessionSchema = z.object({
  instructions: z.string().default(''),
  audio: z
    .object({
      input: z.object({ format, turn_detection: turnDetection }).prefault({}),
      output: z.object({ format, voice: z.string().optional() }).prefault({}),
    })
    .prefault({}),
  tools: z.array(z.object({ name: z.string() })).default([]),
})

/** The settings in a `session.update`; `undefined` if its audio format is not supported. */
export const readSettings = (
  session: unknown,
  voiceActivity: VoiceActivityDetector,
  greeting: () => string,
): ScriptedSettings | undefined => {
  const parsed = sessionSchema.safeParse(session)
  if (!parsed.success) return undefined
  const { instructions, audio, tools } = parsed.data
  const codec: G711Codec = audio.input.format.type === 'audio/pcma' ? 'pcma' : 'pcmu'
  const wire = (type: string): WireAudio =>
    createWireAudio(type === 'audio/pcm' ? pcmWire(pcmRateHz, pcmRateHz) : g711Wire, codec)
  return {
    codec,
    input: wire(audio.input.format.type),
    output: wire(audio.output.format.type),
    voice: audio.output.voice,
    ear: createSpeechEar(voiceActivity, audio.input.turn_detection.silence_duration_ms),
    dialogue: createDialogue({
      instructions,
      tools: new Set(tools.map(({ name }) => name)),
      greeting,
    }),
    createsResponses: audio.input.turn_detection.create_response,
    isInterruptible: audio.input.turn_detection.interrupt_response,
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * An update contains only changes, also within nested objects. The protocol bounds the depth of a
 * session.
 */
export const mergeSession = (
  old: Readonly<Record<string, unknown>>,
  named: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> => {
  const entries = Object.entries(named).map(([member, value]) => {
    const before = old[member]
    return [member, isObject(before) && isObject(value) ? mergeSession(before, value) : value]
  })
  return { ...old, ...Object.fromEntries(entries) }
}
