import type { AgentDefinition } from '../../domains/agents/agent-definition.ts'
import {
  environmentProvider,
  isOfStage,
  providerKinds,
  type ProviderStage,
} from '../../contract/provider-kinds.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import type { OrganizationMode } from '../../domains/organizations/organization-mode.ts'
import type { StoredProvider } from '../../domains/providers/find-provider.ts'
import type { EngineSettings } from '../media/media-protocol.ts'
import type { FindProvider } from './provider-book.ts'
import { tuningFor, type InstalledTuning } from './realtime-tuning.ts'

/** A server of the installation. */
interface InstalledServer {
  readonly url: string | undefined
  readonly key: string | undefined
  readonly model: string | undefined
}

interface InstalledVoice extends InstalledServer {
  readonly voice: string | undefined
}

/** The engines of the installation, for agents that name no server. */
export interface InstalledEngines {
  readonly kind: 'sandbox' | 'realtime' | 'cascade' | undefined
  readonly realtime: InstalledVoice & InstalledTuning
  readonly stt: InstalledServer
  readonly llm: InstalledServer
  readonly tts: InstalledVoice
}

interface EngineChoiceOptions {
  readonly engines: InstalledEngines
  /** Whether an agent's own server may have a private address. */
  readonly allowPrivateNetwork: boolean
  /** The address of the scripted engine. */
  readonly sandboxUrl: () => string
  readonly findProvider: FindProvider
}

export type EngineChoice = (
  agent: Pick<AgentDefinition, 'engine'>,
  mode: OrganizationMode,
  organizationId: OrganizationId,
) => EngineSettings | string

/** Why these engines cannot serve an agent, as a sentence; undefined where they can. Nothing is connected. */
export const engineProblem = (
  engines: InstalledEngines,
  agent: Pick<AgentDefinition, 'engine'>,
  mode: OrganizationMode,
  organizationId: OrganizationId,
  findProvider: FindProvider,
): string | undefined => {
  // Whether there is a server is asked, not where it is: any address does.
  const choose = createEngineChoice({
    engines,
    allowPrivateNetwork: false,
    sandboxUrl: () => 'ws://127.0.0.1',
    findProvider,
  })
  const choice = choose(agent, mode, organizationId)
  return typeof choice === 'string' ? choice : undefined
}

/**
 * Returns the servers for an agent's conversations, or a sentence if this installation cannot serve the agent. The agent's
 * settings have precedence over the installation's. If neither names an engine, a sandbox organization has the scripted
 * one and a live organization has none (decision D15). The installation's keys go to its own servers only: an address
 * that a tenant entered gets none, and must be public unless private networks are allowed.
 */
export const createEngineChoice =
  (options: EngineChoiceOptions): EngineChoice =>
  (agent, mode, organizationId) => {
    const kind = agent.engine?.kind ?? options.engines.kind ?? scriptedOf(mode)
    switch (kind) {
      case undefined:
        return 'There is no voice engine: OUTDIAL_ENGINE is not set, and the agent names none.'
      case 'sandbox':
        return { kind: 'realtime', url: options.sandboxUrl(), wireFormat: { kind: 'g711' } }
      case 'realtime':
        return realtimeSettings(agent, options)
      case 'cascade':
        return namesProviders(agent)
          ? namedSettings(agent, options, organizationId)
          : cascadeSettings(agent, options)
    }
  }

/** Whether a live organization's agent can be served. `engine` is the agent's own, if it has one. */
export const canServeLive = (
  choose: EngineChoice,
  engine: AgentDefinition['engine'],
  organizationId: OrganizationId,
): boolean =>
  typeof choose(engine === undefined ? {} : { engine }, 'live', organizationId) === 'object'

/** People never hear the scripted engine unless the settings name it. */
const scriptedOf = (mode: OrganizationMode) => (mode === 'sandbox' ? 'sandbox' : undefined)

const realtimeSettings = (
  agent: Pick<AgentDefinition, 'engine'>,
  options: EngineChoiceOptions,
): EngineSettings | string => {
  const { realtime } = options.engines
  const own = agent.engine?.url
  const url = own === undefined ? realtime.url : own.replace(/^http/i, 'ws')
  if (url === undefined)
    return 'The realtime engine has no server: OUTDIAL_REALTIME_URL is not set.'
  const server = serverOf(
    url,
    own === undefined ? realtime.key : undefined,
    agent.engine?.model ?? realtime.model,
  )
  // Another server does not know the voices of the installation's server.
  const voice = own === undefined ? realtime.voice : undefined
  const tuning = tuningFor(agent.engine, own === undefined ? realtime : {})
  return { kind: 'realtime', ...server, ...withVoice(voice), ...tuning, ...reachOf(own, options) }
}

const cascadeSettings = (
  agent: Pick<AgentDefinition, 'engine'>,
  options: EngineChoiceOptions,
): EngineSettings | string => {
  const { stt, llm, tts } = options.engines
  const own = agent.engine?.url
  if (own !== undefined && !/^https?:/i.test(own))
    return 'The cascade engine needs an address of http or https.'
  const transcriberUrl = own ?? stt.url
  const modelUrl = own ?? llm.url
  const speechUrl = own ?? tts.url
  if (transcriberUrl === undefined || modelUrl === undefined || speechUrl === undefined)
    return 'The cascade engine has no servers: OUTDIAL_STT_URL, OUTDIAL_LLM_URL and OUTDIAL_TTS_URL are not all set.'
  const reach = reachOf(own, options)
  // The names under which logs and explanations show them (decision D20).
  const server = (stage: string, url: string, { key, model }: InstalledServer) => ({
    name: own === undefined ? 'env' : 'agent',
    id: own === undefined ? `env ${stage}` : `${stage} ${url}`,
    ...serverOf(url, own === undefined ? key : undefined, model),
    ...reach,
  })
  const model = agent.engine?.model ?? llm.model
  return {
    kind: 'cascade',
    stt: [{ ...server('stt', transcriberUrl, stt), kind: 'openai-stt' }],
    llm: [{ ...server('llm', modelUrl, { ...llm, model }), kind: 'openai-chat' }],
    tts: [{ ...server('tts', speechUrl, tts), ...withVoice(tts.voice), kind: 'openai-tts' }],
  }
}

const namesProviders = ({ engine }: Pick<AgentDefinition, 'engine'>): boolean =>
  engine?.stt !== undefined || engine?.llm !== undefined || engine?.tts !== undefined

/** A stage for which the agent names no provider has the installation's. */
const namedSettings = (
  { engine }: Pick<AgentDefinition, 'engine'>,
  options: EngineChoiceOptions,
  organizationId: OrganizationId,
): EngineSettings | string => {
  const problems: string[] = []
  const lineup = <Stage extends ProviderStage>(stage: Stage) =>
    (engine?.[stage] ?? [environmentProvider]).flatMap((name) => {
      const found =
        name === environmentProvider
          ? environmentOf(stage, options.engines)
          : options.findProvider(organizationId, name)
      if (typeof found === 'string') {
        problems.push(found)
        return []
      }
      const { kind } = found
      if (isOfStage(stage, kind)) return [{ ...withoutUnset(found), kind }]
      problems.push(
        `The provider ${name} is of the kind ${kind}, which serves no ${stage}: name one of ${providerKinds[stage].join(', ')}.`,
      )
      return []
    })
  const [stt, llm, tts] = [lineup('stt'), lineup('llm'), lineup('tts')]
  const [problem] = problems
  if (problem !== undefined) return problem
  const [first, ...others] = llm
  const model = engine?.model
  const models = first && model !== undefined ? [{ ...first, model }, ...others] : llm
  return { kind: 'cascade', stt, llm: models, tts }
}

const environmentOf = (stage: ProviderStage, engines: InstalledEngines) => {
  const { url, key, model } = engines[stage]
  const variable = `OUTDIAL_${stage.toUpperCase()}_URL`
  if (url === undefined)
    return `The agent uses the installation's provider for ${stage}, but ${variable} is not set: set it, or name another in the agent's engine.`
  const voice = stage === 'tts' ? engines.tts.voice : undefined
  return {
    id: `env ${stage}`,
    name: environmentProvider,
    kind: providerKinds[stage][0],
    url,
    key,
    model,
    voice,
  }
}

/** Members without a value are absent in the engine's settings. */
const withoutUnset = ({ id, name, url, key, model, voice }: Omit<StoredProvider, 'kind'>) => ({
  id,
  name,
  ...(url !== undefined && { url }),
  ...(key !== undefined && { key }),
  ...(model !== undefined && { model }),
  ...(voice !== undefined && { voice }),
})

const serverOf = (url: string, key: string | undefined, model: string | undefined) => ({
  url,
  ...(key !== undefined && { key }),
  ...(model !== undefined && { model }),
})

const withVoice = (voice: string | undefined) => (voice === undefined ? {} : { voice })

const reachOf = (tenantUrl: string | undefined, { allowPrivateNetwork }: EngineChoiceOptions) => ({
  publicHostsOnly: tenantUrl !== undefined && !allowPrivateNetwork,
})
