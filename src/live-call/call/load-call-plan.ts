import type { OrganizationId } from '../../contract/organization-id.ts'
import { builtInTools, transferTool } from '../../conversation/tools/tools.ts'
import type { ToolSpec } from '../../conversation/engine/voice-engine.ts'
import {
  usualTurnTaking,
  type TurnTakingSettings,
} from '../../conversation/turn-taking/turn-taking-settings.ts'
import type { Database } from '../../database/database.ts'
import { outcomesOf, type AgentDefinition } from '../../domains/agents/agent-definition.ts'
import { findAgentDefinition } from '../../domains/agents/agent-store.ts'
import { transferTargetOf, type AgentTool } from '../../domains/agents/agent-tools.ts'
import { instructionsOf, textsForContact } from '../../domains/agents/texts-for-contact.ts'
import { findContact } from '../../domains/contacts/contact-store.ts'
import { findRecordingChoice, isRecorded } from '../../domains/organizations/recording-choice.ts'
import { judgeTransferNow } from '../../domains/organizations/judge-transfer.ts'
import type { HttpTool } from '../media/http-tool.ts'
import type { CallPlan, LoadedPlan } from './live-call-port.ts'
import type { AdmittedCall } from '../../domains/calls/lifecycle/hand-over.ts'
import type { EngineSettings } from '../media/media-protocol.ts'
import type { Logger } from '../../runtime/logger.ts'

interface CallPlanOptions {
  readonly database: Database
  readonly callerId: string
  readonly allowPrivateNetwork: boolean
  readonly logger: Logger
  /** The engine of an agent; a sentence if this installation cannot serve it. */
  engineFor(agent: AgentDefinition, organizationId: OrganizationId): EngineSettings | string
}

/** Reads the plan of a call from the agent's pinned version and the current contact. */
export const createLoadCallPlan =
  (options: CallPlanOptions) =>
  async (call: AdmittedCall): Promise<LoadedPlan> => {
    const { database } = options
    const [agent, contact, recording] = await Promise.all([
      findAgentDefinition(database, call.organizationId, call.agentId, call.agentVersion),
      findContact(database, call.organizationId, call.contactId),
      findRecordingChoice(database, call.organizationId),
    ])
    if (!agent) return { problem: 'The agent of this call is gone.' }
    if (!contact) return { problem: 'The contact of this call is gone.' }
    const engine = options.engineFor(agent, call.organizationId)
    if (typeof engine === 'string') return { problem: engine }
    const transferTo = await allowedTransferOf(call, agent, options)
    const texts = textsForContact(agent, contact)
    const plan = planOf(call, agent, texts, engine, transferTo, options)
    return { plan: { ...plan, isRecorded: isRecorded(recording, agent.recording) } }
  }

/** The transfer target, if the organization's current rules allow it. */
const allowedTransferOf = async (
  { organizationId, agentId, callId }: AdmittedCall,
  agent: AgentDefinition,
  { database, logger }: CallPlanOptions,
): Promise<string | undefined> => {
  const target = transferTargetOf(agent)
  if (target === undefined) return undefined
  const verdict = await judgeTransferNow(database, organizationId, target)
  if (!('problem' in verdict)) return verdict.target
  const context = { call_id: callId, agent_id: agentId, reason: verdict.problem }
  logger.warn(context, 'an agent may not transfer to its target')
  return undefined
}

/** The agent in a conversation, without whether that is recorded. */
export const planOf = (
  { organizationId }: Pick<AdmittedCall, 'organizationId'>,
  agent: AgentDefinition,
  texts: ReturnType<typeof textsForContact>,
  engine: EngineSettings,
  transferTo: string | undefined,
  { callerId, allowPrivateNetwork }: Pick<CallPlanOptions, 'callerId' | 'allowPrivateNetwork'>,
): Omit<CallPlan, 'isRecorded'> => {
  const outcomes = outcomesOf(agent)
  const configured = agent.tools ?? []
  const voice = agent.engine?.voice ?? agent.voice
  return {
    organizationId,
    engine,
    callerId,
    session: {
      instructions: instructionsOf(agent, texts),
      // An agent that replies to what the callee says first has nothing of its own to say before.
      greeting: agent.turn_taking?.first_words === 'callee' ? '' : texts.greeting,
      ...(agent.turn_taking?.detection === 'outdial' && { turns: 'loop' as const }),
      language: agent.language,
      ...(voice !== undefined && { voice }),
      tools: [
        ...builtInTools(outcomes),
        ...(transferTo === undefined ? [] : [transferTool]),
        ...configured.flatMap(toolSpec),
      ],
    },
    ...(agent.turn_taking && { turnTaking: turnTakingOf(agent.turn_taking) }),
    maxDurationMs: agent.max_duration_seconds * 1000,
    voicemail: agent.voicemail,
    ...(texts.voicemailMessage !== undefined && { voicemailMessage: texts.voicemailMessage }),
    outcomes,
    ...(transferTo !== undefined && { transferTo }),
    httpTools: configured.flatMap(httpTool),
    allowPrivateNetwork,
  }
}

const turnTakingOf = (chosen: NonNullable<AgentDefinition['turn_taking']>): TurnTakingSettings => ({
  patience: chosen.patience ?? usualTurnTaking.patience,
  interruptionSensitivity:
    chosen.interruption_sensitivity ?? usualTurnTaking.interruptionSensitivity,
  backchannelWords: chosen.backchannel_words ?? usualTurnTaking.backchannelWords,
  firstWords: chosen.first_words ?? usualTurnTaking.firstWords,
})

const toolSpec = (tool: AgentTool): ToolSpec[] =>
  'builtin' in tool
    ? []
    : [{ name: tool.name, description: tool.description, parameters: tool.parameters }]

const httpTool = (tool: AgentTool): HttpTool[] =>
  'builtin' in tool
    ? []
    : [
        {
          name: tool.name,
          method: tool.method,
          url: tool.url,
          ...(tool.headers && { headers: tool.headers }),
          timeoutMs: tool.timeout_ms,
        },
      ]
