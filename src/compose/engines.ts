import type { Config } from '../config.ts'
import type { AgentDefinition } from '../domains/agents/agent-definition.ts'
import type { OrganizationMode } from '../domains/organizations/organization-mode.ts'
import type { EngineSettings } from '../live-call/media/media-protocol.ts'

/** The settings engines are made of. */
export type EngineConfig = Pick<
  Config,
  | 'OUTDIAL_ENGINE'
  | 'OUTDIAL_ALLOW_PRIVATE_NETWORK'
  | `OUTDIAL_REALTIME_${'URL' | 'KEY' | 'MODEL' | 'VOICE'}`
  | `OUTDIAL_${'STT' | 'LLM' | 'TTS'}_${'URL' | 'KEY' | 'MODEL'}`
  | 'OUTDIAL_TTS_VOICE'
>

export type EngineChoice = (
  agent: Pick<AgentDefinition, 'engine'>,
  mode: OrganizationMode,
) => EngineSettings | string

/**
 * Which servers hold an agent's conversations: the agent's own settings go before the installation's, and where neither
 * says anything a sandbox organization has the scripted engine and a live one none (decision D15). A sentence where this
 * installation cannot serve it. The installation's keys are for the installation's servers: an address that a
 * tenant entered gets none, and has to be public unless private networks are allowed.
 */
export const createEngineChoice =
  (config: EngineConfig, sandboxUrl: () => string): EngineChoice =>
  (agent, mode) => {
    const kind = agent.engine?.kind ?? config.OUTDIAL_ENGINE ?? scriptedOf(mode)
    switch (kind) {
      case undefined:
        return 'There is no voice engine: OUTDIAL_ENGINE is not set, and the agent names none.'
      case 'sandbox':
        return { kind: 'realtime', url: sandboxUrl() }
      case 'realtime':
        return realtimeSettings(agent, config)
      case 'cascade':
        return cascadeSettings(agent, config)
    }
  }

/** The scripted engine speaks to a person only where somebody said so. */
const scriptedOf = (mode: OrganizationMode) => (mode === 'sandbox' ? 'sandbox' : undefined)

const realtimeSettings = (
  agent: Pick<AgentDefinition, 'engine'>,
  config: EngineConfig,
): EngineSettings | string => {
  const own = agent.engine?.url
  const url = own === undefined ? config.OUTDIAL_REALTIME_URL : own.replace(/^http/i, 'ws')
  if (url === undefined)
    return 'The realtime engine has no server: OUTDIAL_REALTIME_URL is not set.'
  const server = serverOf(
    url,
    own === undefined ? config.OUTDIAL_REALTIME_KEY : undefined,
    agent.engine?.model ?? config.OUTDIAL_REALTIME_MODEL,
  )
  // A voice of the installation's server means nothing to another one.
  const voice = own === undefined ? config.OUTDIAL_REALTIME_VOICE : undefined
  return { kind: 'realtime', ...server, ...withVoice(voice), ...reachOf(own, config) }
}

const cascadeSettings = (
  agent: Pick<AgentDefinition, 'engine'>,
  config: EngineConfig,
): EngineSettings | string => {
  const own = agent.engine?.url
  if (own !== undefined && !/^https?:/i.test(own))
    return 'The cascade engine needs an address of http or https.'
  const transcriberUrl = own ?? config.OUTDIAL_STT_URL
  const modelUrl = own ?? config.OUTDIAL_LLM_URL
  const speechUrl = own ?? config.OUTDIAL_TTS_URL
  if (transcriberUrl === undefined || modelUrl === undefined || speechUrl === undefined)
    return 'The cascade engine has no servers: OUTDIAL_STT_URL, OUTDIAL_LLM_URL and OUTDIAL_TTS_URL are not all set.'
  const key = (installed: string | undefined) => (own === undefined ? installed : undefined)
  const model = agent.engine?.model ?? config.OUTDIAL_LLM_MODEL
  return {
    kind: 'cascade',
    transcriber: serverOf(transcriberUrl, key(config.OUTDIAL_STT_KEY), config.OUTDIAL_STT_MODEL),
    model: serverOf(modelUrl, key(config.OUTDIAL_LLM_KEY), model),
    speech: {
      ...serverOf(speechUrl, key(config.OUTDIAL_TTS_KEY), config.OUTDIAL_TTS_MODEL),
      ...withVoice(config.OUTDIAL_TTS_VOICE),
    },
    ...reachOf(own, config),
  }
}

const serverOf = (url: string, key: string | undefined, model: string | undefined) => ({
  url,
  ...(key !== undefined && { key }),
  ...(model !== undefined && { model }),
})

const withVoice = (voice: string | undefined) => (voice === undefined ? {} : { voice })

const reachOf = (tenantUrl: string | undefined, config: EngineConfig) => ({
  publicHostsOnly: tenantUrl !== undefined && !config.OUTDIAL_ALLOW_PRIVATE_NETWORK,
})
