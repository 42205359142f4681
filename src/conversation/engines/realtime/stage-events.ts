import type { VoiceEvent } from '../../engine/voice-engine.ts'
import type { SpeechState } from './speech-state.ts'

interface StageOfEvent {
  readonly number: number
  /** How much audio of the callee came before the session. */
  readonly startMs: number
}

/**
 * Converts an event of one session into one of the whole conversation: utterance ids become unique there, times
 * continue. Returns undefined for speech that an earlier session has reported.
 */
export const eventOfConversation = (
  event: VoiceEvent,
  { number, startMs }: StageOfEvent,
  speech: SpeechState,
  heardMs: number,
): VoiceEvent | undefined => {
  switch (event.type) {
    case 'audio':
    case 'audio_end':
    case 'agent_text':
    case 'first_words':
      return { ...event, utteranceId: `${number}.${event.utteranceId}` }
    case 'speech_start': {
      const atMs = speech.started(event.atMs + startMs)
      return atMs === undefined ? undefined : { type: 'speech_start', atMs }
    }
    case 'speech_stop':
      speech.stopped(heardMs)
      return { type: 'speech_stop', atMs: event.atMs + startMs }
    case 'contact_text':
      return { ...event, startMs: speech.understood(event.startMs + startMs) }
    case 'tool_call':
    case 'error':
      return event
  }
}

/** Splits an id that `eventOfConversation` made. */
export const readUtteranceId = (id: string): { number: number; ofStage: string } => {
  const dot = id.indexOf('.')
  return { number: Number(id.slice(0, dot)), ofStage: id.slice(dot + 1) }
}
