import type { FileProblem } from '../organizations/invalid-file.ts'
import { scanJson } from '../organizations/scan-json.ts'
import type { DraftFile } from './draft-store.ts'

/** As in bodies of the API (D9). */
const maxDepth = 64

/** What the text of an agent file says; the file is absent where the text is no JSON object, or an ambiguous one. */
export const readAgentSource = (
  source: string,
): { readonly file?: DraftFile; readonly problems: readonly FileProblem[] } => {
  let value: unknown
  try {
    value = JSON.parse(source)
  } catch (error) {
    return { problems: [{ path: '', message: `It is not JSON: ${(error as Error).message}` }] }
  }
  const { repeated, depth } = scanJson(source)
  if (depth > maxDepth)
    return { problems: [{ path: '', message: `It is nested deeper than ${maxDepth} levels.` }] }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { problems: [{ path: '', message: 'It must be one JSON object.' }] }
  if (repeated.length > 0) return { problems: repeated }
  return { file: value as DraftFile, problems: [] }
}
