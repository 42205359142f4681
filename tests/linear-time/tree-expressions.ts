import { globSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import jsTokens, { type Token } from 'js-tokens'

/** A regular expression of the product, and its place. */
export interface TreeExpression {
  readonly expression: RegExp
  readonly place: string
}

const root = join(import.meta.dirname, '../..')

export const sourceOf = (file: string): string => readFileSync(join(root, file), 'utf8')

/** Every source file of the product, except tests and their helpers. */
export const productFiles = (): string[] =>
  globSync('src/**/*.ts', { cwd: root })
    .filter((file) => !/\.(test|d)\.ts$/.test(file))
    .toSorted()

// The JavaScript tokenizer distinguishes a division from an expression only without type annotations around it.
const tokensOf = (source: string): Iterable<Token> => jsTokens(stripTypeScriptTypes(source))

/** The regular expression literals of a source text. */
export const literalsIn = (
  source: string,
): { readonly expression: RegExp; readonly line: number }[] => {
  const found = []
  let line = 1
  for (const { type, value } of tokensOf(source)) {
    if (type === 'RegularExpressionLiteral') {
      const end = value.lastIndexOf('/')
      found.push({ expression: new RegExp(value.slice(1, end), value.slice(end + 1)), line })
    }
    line += value.split('\n').length - 1
  }
  return found
}

/** How many regular expressions a source text builds at run time. */
export const countBuilt = (source: string): number => {
  const words = [...tokensOf(source)].filter(
    ({ type }) => !/WhiteSpace|Comment|LineTerm/.test(type),
  )
  return words.filter(({ value }, at) => value === 'RegExp' && words[at + 1]?.value === '(').length
}

/** The literals of the whole product. */
export const literalsOfTree = (): TreeExpression[] =>
  productFiles().flatMap((file) =>
    literalsIn(sourceOf(file)).map(({ expression, line }) => ({
      expression,
      place: `${file}:${line}`,
    })),
  )

/** The expressions that modules build when they are loaded; they must build all of them there. */
export const builtInTree = async (): Promise<(TreeExpression & { readonly file: string })[]> => {
  const found: (TreeExpression & { readonly file: string })[] = []
  for (const file of filesThatBuild()) {
    const built = await recordBuilt(() => import(pathToFileURL(join(root, file)).href))
    found.push(...built.map((expression) => ({ expression, place: file, file })))
  }
  return found
}

export const filesThatBuild = (): string[] =>
  productFiles().filter((file) => countBuilt(sourceOf(file)) > 0)

const recordBuilt = async (load: () => Promise<unknown>): Promise<RegExp[]> => {
  const built: RegExp[] = []
  const original = globalThis.RegExp
  globalThis.RegExp = new Proxy(original, {
    construct: (target, [pattern, flags]: [string, string?]) => {
      const expression = new target(pattern, flags)
      built.push(expression)
      return expression
    },
  })
  try {
    await load()
  } finally {
    globalThis.RegExp = original
  }
  return built
}
