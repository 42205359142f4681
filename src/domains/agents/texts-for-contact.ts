import type { AgentDefinition } from './agent-definition.ts'
import { renderTemplate, type TemplateContact } from './template.ts'

/** An agent's texts for one contact. */
interface AgentTexts {
  readonly greeting: string
  readonly prompt: string
  /** Present if the agent leaves one. */
  readonly voicemailMessage?: string
}

/** Fills the contact's fields into all texts of the agent. */
export const textsForContact = (agent: AgentDefinition, contact: TemplateContact): AgentTexts => ({
  greeting: renderTemplate(agent.greeting, contact),
  prompt: renderTemplate(agent.prompt, contact),
  ...(agent.voicemail === 'leave_message' &&
    agent.voicemail_message !== undefined && {
      voicemailMessage: renderTemplate(agent.voicemail_message, contact),
    }),
})

/** The introduction for the model, before the prompt of the agent's owner. */
export const instructionsOf = (agent: AgentDefinition, { prompt }: AgentTexts): string =>
  `You are "${agent.name}".\n\n${prompt}`
