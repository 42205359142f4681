import type { SampleRow } from './forecast-store.ts'

/** How long a call holds its line, and how many are answered. */
export interface Average {
  readonly source: 'agent' | 'organization' | 'default'
  /** Calls it is made of. */
  readonly calls: number
  readonly lineMs: number
  readonly answerRate: number
}

/** Fewer calls tell nothing. */
const leastSamples = 20

/** Assumed without enough calls: half a minute of ringing for six of ten, a minute and three quarters for the others. */
const assumed: Average = { source: 'default', calls: 0, lineMs: 60_000, answerRate: 0.4 }

/** A call shorter than this would make the forecast run away. */
const leastLineMs = 1_000

/** Of the agent's recent calls; of all of the organization's if the agent has few. */
export const averageOf = (samples: readonly SampleRow[], agentId: string): Average => {
  const ofAgent = samples.filter((sample) => sample.agent_id === agentId)
  if (ofAgent.length >= leastSamples) return averageFrom('agent', ofAgent)
  return samples.length >= leastSamples ? averageFrom('organization', samples) : assumed
}

const averageFrom = (source: Average['source'], samples: readonly SampleRow[]): Average => {
  const sumMs = samples.reduce((sum, { line_ms: lineMs }) => sum + lineMs, 0)
  const answered = samples.filter(({ is_answered: isAnswered }) => isAnswered).length
  return {
    source,
    calls: samples.length,
    lineMs: Math.max(leastLineMs, Math.round(sumMs / samples.length)),
    answerRate: answered / samples.length,
  }
}
