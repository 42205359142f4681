import type { AgentDefinition } from '../domains/agents/agent-definition.ts'
import type { EngineSettings } from '../live-call/media-protocol.ts'

export interface EngineOptions {
  readonly defaultKind: 'sandbox' | 'realtime' | 'cascade'
  /** URL of the scripted model, once it runs. */
  readonly sandboxUrl: () => string
  readonly realtime: {
    readonly url: string | undefined
    readonly key: string | undefined
    readonly model: string | undefined
  }
}

/** Which server holds an agent's conversations: the agent's own settings go before the installation's. */
export const createEngineChoice =
  ({ defaultKind, sandboxUrl, realtime }: EngineOptions) =>
  (agent: AgentDefinition): EngineSettings | string => {
    const kind = agent.engine?.kind ?? defaultKind
    switch (kind) {
      case 'sandbox':
        return { kind: 'realtime', url: sandboxUrl() }
      case 'realtime':
        return realtimeSettings(agent, realtime)
      case 'cascade':
        return 'The cascade engine is not served by this installation.'
    }
  }

const realtimeSettings = (
  agent: AgentDefinition,
  { url, key, model }: EngineOptions['realtime'],
): EngineSettings | string => {
  const address = agent.engine?.url ?? url
  if (address === undefined)
    return 'The realtime engine has no server: OUTDIAL_REALTIME_URL is not set.'
  const chosen = agent.engine?.model ?? model
  return {
    kind: 'realtime',
    url: address,
    // The installation's key is for the installation's server, never for an address a tenant entered.
    ...(key !== undefined && agent.engine?.url === undefined && { key }),
    ...(chosen !== undefined && { model: chosen }),
  }
}
