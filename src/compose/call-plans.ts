import { builtInTools } from '../conversation/tools.ts'
import type { ToolSpec } from '../conversation/voice-engine.ts'
import type { Database } from '../database/database.ts'
import type { AgentDefinition } from '../domains/agents/agent-definition.ts'
import { findAgentDefinition } from '../domains/agents/agent-store.ts'
import type { AgentTool } from '../domains/agents/agent-tools.ts'
import { textsForContact } from '../domains/agents/texts-for-contact.ts'
import { findContact } from '../domains/contacts/contact-store.ts'
import type { HttpTool } from '../live-call/http-tool.ts'
import type { CallPlan, DialableCall, LoadedPlan } from '../live-call/live-call-port.ts'
import type { EngineSettings } from '../live-call/media-protocol.ts'
import { normalizedOutcomes } from '../contract/states.ts'

export interface CallPlanOptions {
  readonly database: Database
  readonly callerId: string
  readonly allowPrivateNetwork: boolean
  /** The engine an agent is served by; a sentence where this installation cannot serve it. */
  engineFor(agent: AgentDefinition): EngineSettings | string
}

/** Reads what a call needs from the agent's pinned version and from the contact as it is now. */
export const createCallPlans =
  (options: CallPlanOptions) =>
  async (call: DialableCall): Promise<LoadedPlan> => {
    const { database } = options
    const [agent, contact] = await Promise.all([
      findAgentDefinition(database, call.organizationId, call.agentId, call.agentVersion),
      findContact(database, call.organizationId, call.contactId),
    ])
    if (!agent) return { problem: 'The agent of this call is gone.' }
    if (!contact) return { problem: 'The contact of this call is gone.' }
    const engine = options.engineFor(agent)
    if (typeof engine === 'string') return { problem: engine }
    return { plan: planOf(agent, textsForContact(agent, contact), engine, options) }
  }

const planOf = (
  agent: AgentDefinition,
  texts: ReturnType<typeof textsForContact>,
  engine: EngineSettings,
  { callerId, allowPrivateNetwork }: CallPlanOptions,
): CallPlan => {
  const outcomes = [...normalizedOutcomes, ...(agent.outcomes ?? []).map(({ slug }) => slug)]
  const configured = agent.tools ?? []
  const voice = agent.engine?.voice ?? agent.voice
  return {
    engine,
    callerId,
    session: {
      instructions: texts.prompt,
      greeting: texts.greeting,
      language: agent.language,
      ...(voice !== undefined && { voice }),
      tools: [...builtInTools(outcomes), ...configured.flatMap(toolSpec)],
    },
    maxDurationMs: agent.max_duration_seconds * 1000,
    voicemail: agent.voicemail,
    ...(texts.voicemailMessage !== undefined && { voicemailMessage: texts.voicemailMessage }),
    outcomes,
    httpTools: configured.flatMap(httpTool),
    allowPrivateNetwork,
  }
}

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
