import { definitionOf, draftOf, membersOf, textOf, type Draft } from './draft.ts'

export const textOfDraft = (draft: Draft): string => JSON.stringify(definitionOf(draft), null, 2)

interface ReadText {
  readonly draft?: Draft
  readonly problem?: string
}

/** The draft that a text describes: a definition, or the whole file that the command line takes. */
export const readText = (text: string, draft: Draft): ReadText => {
  const read = parse(text)
  if ('problem' in read) return read
  const members = membersOf(read.value)
  const isFile = !('steps' in members) && 'definition' in members
  const named = isFile
    ? { name: textOf(members, 'name'), description: textOf(members, 'description') }
    : draft
  const found = draftOf(named, isFile ? members['definition'] : members)
  return found ? { draft: found } : { problem: 'It must be an object with "entry" and "steps".' }
}

const parse = (text: string): { readonly value: unknown } | { readonly problem: string } => {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'It is no JSON.' }
  }
}
