import { zonesOfNumber } from '../../numbering/zones-of-number.ts'
import type { AgentDefinition } from './agent-definition.ts'
import { renderTemplate, type TemplateContact } from './template.ts'

/** An agent's texts for one contact. */
interface AgentTexts {
  readonly greeting: string
  readonly prompt: string
  /** Date and time where the contact is, as a sentence for the model. */
  readonly now: string
  /** Present if the agent leaves one. */
  readonly voicemailMessage?: string
}

/** Fills the contact's fields into all texts of the agent. */
export const textsForContact = (
  agent: AgentDefinition,
  contact: TemplateContact,
  now = new Date(),
): AgentTexts => ({
  now: nowFor(contact, now),
  greeting: renderTemplate(agent.greeting, contact),
  prompt: renderTemplate(agent.prompt, contact),
  ...(agent.voicemail === 'leave_message' &&
    agent.voicemail_message !== undefined && {
      voicemailMessage: renderTemplate(agent.voicemail_message, contact),
    }),
})

/** The introduction for the model, before the prompt of the agent's owner. */
export const instructionsOf = (agent: AgentDefinition, { prompt, now }: AgentTexts): string =>
  `You are "${agent.name}".\n\n${prompt}\n\n${now}`

/** In the first zone that the number allows; a number without a place gives UTC. */
const nowFor = ({ phone_number: number }: TemplateContact, now: Date): string => {
  const [timeZone] = (number ? zonesOfNumber(number) : undefined) ?? []
  const format = new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'full',
    timeStyle: 'short',
    timeZone: timeZone ?? 'UTC',
  })
  const where = timeZone === undefined ? 'in UTC' : `where the person is (${timeZone})`
  return `It is now ${format.format(now)} ${where}.`
}
