import type { LaneKind } from './lane-store.ts'

const sentences: Readonly<Record<LaneKind, string>> = {
  immediate: 'Immediate calls are paused.',
  automation: 'Its Automation is paused.',
  batch: 'Its batch is paused.',
}

/** Why a call of a paused lane waits. */
export const pausedSentence = (kind: LaneKind): string => sentences[kind]
