/** Markup that is safe to put into a page as it stands. */
export interface Html {
  readonly text: string
}

type Part = Html | string | readonly Part[]

/** A template whose holes are escaped, unless they are markup themselves: nothing can be put in unescaped by accident. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html => ({
  text: strings.reduce((text, string, at) => text + render(parts[at - 1] ?? '') + string),
})

/** Declares trusted text of our own to be markup. */
export const raw = (text: string): Html => ({ text })

const render = (part: Part): string => {
  if (typeof part === 'string') return escapeHtml(part)
  return 'text' in part ? part.text : part.map(render).join('')
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? character)
