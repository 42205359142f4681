import { pathText, type FileProblem } from './invalid-file.ts'

/** An open object or list. */
interface Open {
  /** Of an object: the members so far. */
  readonly names: Set<string> | undefined
  /** The current position: a member's name, or an index. */
  at: string | number
}

interface ScannedJson {
  /** Members that an object has more than once; `JSON.parse` silently keeps the last. */
  readonly repeated: readonly FileProblem[]
  /** Levels of nesting; a flat object is one. */
  readonly depth: number
}

/** What `JSON.parse` does not report about a valid text; a scan without recursion, at any depth. */
export const scanJson = (json: string): ScannedJson => {
  const repeated: FileProblem[] = []
  const open: Open[] = []
  let depth = 0
  for (let at = 0; at < json.length; at += 1) {
    const inside = open.at(-1)
    depth = Math.max(depth, open.length)
    switch (json.charAt(at)) {
      case '{':
        open.push({ names: new Set(), at: '' })
        break
      case '[':
        open.push({ names: undefined, at: 0 })
        break
      case '}':
      case ']':
        open.pop()
        break
      case ',':
        if (inside && typeof inside.at === 'number') inside.at += 1
        break
      case '"': {
        const end = endOfString(json, at)
        if (inside?.names && isName(json, end)) {
          const name = JSON.parse(json.slice(at, end)) as string
          inside.at = name
          if (inside.names.has(name))
            repeated.push({ path: pathText(open.map((each) => each.at)), message: givenTwice })
          inside.names.add(name)
        }
        at = end - 1
      }
    }
  }
  return { repeated, depth }
}

const givenTwice = 'This member is given twice.'

/** Past the closing quote. */
const endOfString = (json: string, start: number): number => {
  let at = start + 1
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1
  return at + 1
}

const notBlank = /[^ \t\r\n]/g

/** A string before a colon is a member's name. */
const isName = (json: string, end: number): boolean => {
  notBlank.lastIndex = end
  return notBlank.exec(json)?.[0] === ':'
}
