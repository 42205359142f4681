/** An agent's file as operators write it; the service checks it when it is published. */
export type AgentFile = Readonly<Record<string, unknown>>

export const emptyAgent: AgentFile = {
  name: '',
  language: 'en-US',
  greeting: '',
  prompt: '',
  voicemail: 'hang_up',
}

/** What the service shows in the place of a secret. */
const hidden = '(hidden)'

/** Whether publishing the file as it is shown would put a placeholder in the place of a secret. */
export const hasHiddenValues = (file: unknown): boolean => JSON.stringify(file).includes(hidden)

export const textOf = (file: AgentFile, name: string): string => {
  const value = file[name]
  return typeof value === 'string' ? value : ''
}

/** The file with other texts; an empty one leaves its member out. */
export const withTexts = (file: AgentFile, texts: Readonly<Record<string, string>>): AgentFile => {
  const changed = { ...file, ...texts }
  return Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== ''))
}

/** A person of the sandbox, for the preview. */
export const exampleContact: Readonly<Record<string, string>> = {
  name: 'Ada Lovelace',
  phone_number: '+12025550100',
  email: 'ada@example.com',
  company: 'Analytical Engines',
  role: 'Engineer',
  city: 'London',
  country: 'GB',
  external_id: 'crm-1842',
  source: 'public_api',
}

/** A text as the callee would hear it: `{{contact.name|there}}` filled; what is unknown stays as it is written. */
export const fillPreview = (text: string): string =>
  text.replace(
    /\{\{contact\.([a-z_]+)(?:\|([^{}|]*))?\}\}/g,
    (placeholder, name: string, otherwise: string | undefined) =>
      exampleContact[name] ?? otherwise ?? placeholder,
  )
