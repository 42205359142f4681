import { systemTime, type Clock } from '../../runtime/time.ts'
import type { TurnLatency } from './conversation-types.ts'
import type { VoiceEvent } from '../engine/voice-engine.ts'

/** Measures the stages of the time between the callee's last word and the agent's first. */
interface TurnLatencyMeter {
  /** A frame of the callee was voiced. */
  heardVoice(): void
  took(event: VoiceEvent): void
  /** The loop decided that the callee has finished, and asks for the reply. */
  turnOver(): void
  /** The callee holds the line: a reply that waits for the resume is not measured. */
  held(): void
  /** A frame of this utterance is on its way to the callee; `atMs` on the recording's clock. */
  played(utteranceId: string, atMs: number, isVoiced: boolean): void
}

interface TurnLatencyListener {
  onLatency(latency: TurnLatency): void
  /** Once: the first sound of the agent, on the recording's clock. */
  onFirstWords(atMs: number): void
}

interface OpenTurn {
  readonly voicedAt: number
  stoppedAt: number
  textAt?: number
  wordsAt?: number
  audioAt?: number
  utteranceId?: string
}

/** The shares are shorter than a frame, so that counting frames does not do. */
export const createTurnLatencyMeter = (
  listener: TurnLatencyListener,
  { monotonicMs: now }: Pick<Clock, 'monotonicMs'> = systemTime,
): TurnLatencyMeter => {
  let voicedAt: number | undefined
  let turn: OpenTurn | undefined
  let lastUtteranceId: string | undefined
  let hasSpoken = false

  const tookAudio = (utteranceId: string): void => {
    const isNew = utteranceId !== lastUtteranceId
    lastUtteranceId = utteranceId
    // Speech that began before the callee finished is not a reply.
    if (!isNew || !turn || turn.audioAt !== undefined) return
    turn.audioAt = now()
    turn.utteranceId = utteranceId
  }

  return {
    heardVoice() {
      voicedAt = now()
    },
    took(event) {
      switch (event.type) {
        case 'speech_start':
          // The callee speaks on: the reply is measured from the end of that speech.
          if (turn?.audioAt === undefined) turn = undefined
          return
        case 'speech_stop':
          if (voicedAt !== undefined) turn = { voicedAt, stoppedAt: now() }
          return
        case 'contact_text':
          if (turn && turn.audioAt === undefined) turn.textAt ??= now()
          return
        case 'first_words':
          if (turn) turn.wordsAt ??= now()
          return
        case 'audio':
          return tookAudio(event.utteranceId)
        case 'audio_end':
        case 'agent_text':
        case 'tool_call':
        case 'error':
          return
      }
    },
    turnOver() {
      if (turn && turn.audioAt === undefined) turn.stoppedAt = now()
    },
    held() {
      voicedAt = undefined
      turn = undefined
    },
    played(utteranceId, atMs, isVoiced) {
      if (isVoiced && !hasSpoken) {
        hasSpoken = true
        listener.onFirstWords(atMs)
      }
      if (turn?.utteranceId !== utteranceId || turn.audioAt === undefined) return
      listener.onLatency(latencyOf({ ...turn, audioAt: turn.audioAt }, atMs, now()))
      turn = undefined
    },
  }
}

const latencyOf = (
  turn: OpenTurn & { readonly audioAt: number },
  audioOffsetMs: number,
  playedAt: number,
): TurnLatency => {
  const { voicedAt, stoppedAt, textAt, wordsAt, audioAt } = turn
  const modelFrom = wordsAt === undefined ? stoppedAt : (textAt ?? stoppedAt)
  return {
    audioOffsetMs,
    endpointingMs: between(voicedAt, stoppedAt),
    // A model that hears audio itself does not wait for the words, which may even come later.
    transcriptionMs:
      wordsAt === undefined || textAt === undefined ? null : between(stoppedAt, textAt),
    modelMs: between(modelFrom, wordsAt ?? audioAt),
    speechMs: wordsAt === undefined ? null : between(wordsAt, audioAt),
    ownMs: between(audioAt, playedAt),
    totalMs: between(voicedAt, playedAt),
  }
}

const between = (from: number, to: number): number => Math.max(0, Math.round(to - from))
