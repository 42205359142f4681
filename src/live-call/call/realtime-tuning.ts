import type { LinkSettings } from '../../conversation/engines/realtime/link-settings.ts'
import type { SessionTuning } from '../../conversation/engines/realtime/session-tuning.ts'
import type { AgentDefinition } from '../../domains/agents/agent-definition.ts'

type Tuning = SessionTuning & Pick<LinkSettings, 'transcriptionModel'>

/** What the installation asks of its own realtime server, as its settings have it. */
export type InstalledTuning = {
  readonly [Member in Exclude<keyof Tuning, 'keywords'>]?: Tuning[Member] | undefined
}

/** The agent's settings, and where it has none the installation's. */
export const tuningFor = (own: AgentDefinition['engine'], installed: InstalledTuning): Tuning => {
  const asked = {
    transcriptionModel: own?.transcription_model ?? installed.transcriptionModel,
    turnDetection: own?.turn_detection ?? installed.turnDetection,
    eagerness: own?.eagerness ?? installed.eagerness,
    noiseReduction: own?.noise_reduction ?? installed.noiseReduction,
    speed: own?.speed ?? installed.speed,
    reasoningEffort: own?.reasoning_effort ?? installed.reasoningEffort,
    keywords: own?.keywords,
  }
  return Object.fromEntries(
    Object.entries(asked).filter(([, value]) => value !== undefined),
  ) as Tuning
}
