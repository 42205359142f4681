import type { AgentDefinition } from './agent-definition.ts'
import { renderTemplate, type TemplateContact } from './template.ts'

/** An agent's texts for one contact. */
export interface AgentTexts {
  readonly greeting: string
  readonly prompt: string
  /** Present where the agent leaves one. */
  readonly voicemailMessage?: string
}

/** Fills the contact's fields into everything the agent says and is told. */
export const textsForContact = (agent: AgentDefinition, contact: TemplateContact): AgentTexts => ({
  greeting: renderTemplate(agent.greeting, contact),
  prompt: renderTemplate(agent.prompt, contact),
  ...(agent.voicemail === 'leave_message' &&
    agent.voicemail_message !== undefined && {
      voicemailMessage: renderTemplate(agent.voicemail_message, contact),
    }),
})

/** What the model is told it is, before the prompt that the agent's owner wrote. */
export const instructionsOf = (agent: AgentDefinition, { prompt }: AgentTexts): string =>
  `You are "${agent.name}".\n\n${prompt}`
