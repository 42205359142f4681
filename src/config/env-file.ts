import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'

const fileName = '.env'
/** All settings with their explanations take 5 kB. */
const maxBytes = 64 * 1024

/** The content of a file. If it has problems, no value may be used. */
interface EnvFile {
  readonly values: Readonly<Record<string, string | undefined>>
  /** File and line of each value, such as `/srv/.env line 3`. */
  readonly places: ReadonlyMap<string, string>
  /** One sentence with the line for each. */
  readonly problems: readonly string[]
}

/** Reads the file `.env` of a folder; empty if there is none. `problemOfName` checks each name. */
export const readEnvFile = (
  folder: string,
  problemOfName: (name: string) => string | undefined,
): EnvFile => {
  const path = join(folder, fileName)
  const nothing = { values: {}, places: new Map<string, string>() }
  if (!existsSync(path)) return { ...nothing, problems: [] }
  try {
    if (statSync(path).size > maxBytes)
      return { ...nothing, problems: [`${path} is larger than 64 KiB, which no settings are.`] }
    const text = readFileSync(path, 'utf8')
    const { lines, problems } = examine(text, problemOfName)
    return {
      values: parseEnv(text),
      places: new Map([...lines].map(([name, line]) => [name, `${path} line ${line}`])),
      problems: problems.map(([line, problem]) => `${path} line ${line}: ${problem}`),
    }
  } catch (error) {
    const problem = `${path} cannot be read (${(error as Error).message}): give this user access to it, or start in another folder.`
    return { ...nothing, problems: [problem] }
  }
}

const assignment = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(["'`]?)(.*)$/

/** Reports lines that Node's parser would skip. */
const examine = (
  text: string,
  problemOfName: (name: string) => string | undefined,
): {
  readonly lines: ReadonlyMap<string, number>
  readonly problems: readonly (readonly [line: number, problem: string])[]
} => {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/)
  const problems: (readonly [number, string])[] = []
  const found = new Map<string, number>()
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? ''
    if (/^\s*(?:#|$)/.test(line)) continue
    const [, name, quote = '', rest = ''] = assignment.exec(line) ?? []
    if (name === undefined) {
      problems.push([at + 1, 'it must be a comment, or NAME=value.'])
      continue
    }
    found.set(name, at + 1)
    const unknown = problemOfName(name)
    if (unknown !== undefined) problems.push([at + 1, unknown])
    if (quote === '' || rest.includes(quote)) continue
    // A quoted value may have several lines.
    const end = lines.findIndex((each, index) => index > at && each.includes(quote))
    if (end < 0)
      problems.push([at + 1, `the value of ${name} begins with ${quote} and never ends.`])
    else at = end
  }
  return { lines: found, problems }
}
