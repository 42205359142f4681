import type { LaneKind } from './lane-store.ts'

const sentences: Readonly<Record<LaneKind, string>> = {
  immediate: 'Immediate calls are paused.',
  automation: 'Its Automation is paused.',
  batch: 'Its batch is paused.',
}

/** What holds back a call whose lane is paused. */
export const pausedSentence = (kind: LaneKind): string => sentences[kind]
