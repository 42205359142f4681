import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { test } from 'node:test'

const root = resolve(import.meta.dirname, '..')

/** Every file that may import from src. */
const importers = ['src', 'tests', 'benchmarks', 'scripts', 'bin', 'dashboard'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(?:tsx?|mjs)$/.test(path) && !path.includes('node_modules'))
    .map((path) => join(root, folder, path)),
)

/** `file name` of what a module exports by a declaration; there is no other form in src. */
const exportsOf = (file: string, source: string): string[] =>
  [...source.matchAll(exportedName)].map(([, name]) => `${relative(root, file)} ${name}`)

const exportedName =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm

/** `file name` of what a module imports by name from files of ours; `file *` where it takes the whole module. */
const importsOf = (file: string, source: string): string[] => {
  const imported = (specifier: string | undefined): string =>
    relative(root, resolve(dirname(file), specifier ?? ''))
  const named = [...source.matchAll(namedImport)].flatMap(([, names = '', from]) =>
    names.split(',').map((name) => `${imported(from)} ${plainName(name)}`),
  )
  const whole = [...source.matchAll(wholeImport)].map(([, from]) => `${imported(from)} *`)
  return [...named, ...whole]
}

const namedImport = /\bimport (?:type )?\{([^}]*)\} from '(\.[^']*)'/g
const wholeImport = /(?:\bimport (?:type )?\* as \w+ from|\bimport\() ?'(\.[^']*)'/g

const plainName = (name: string): string =>
  name
    .trim()
    .replace(/^type /, '')
    .replace(/ as \w+$/, '')

test('nothing is exported that no other file imports', () => {
  const used = new Set<string>()
  const exported: string[] = []
  for (const file of importers) {
    const source = readFileSync(file, 'utf8')
    for (const name of importsOf(file, source)) used.add(name)
    if (relative(root, file).startsWith('src/')) exported.push(...exportsOf(file, source))
  }
  assert.ok(exported.length > 1_000, 'the exports were found')
  const unused = exported.filter((name) => !used.has(name) && !used.has(`${name.split(' ')[0]} *`))
  assert.deepEqual(unused, [])
})

/** Names that several of the files export, with those files. */
const sharedNames = (files: readonly string[]): [string, string[]][] => {
  const homes = new Map<string, string[]>()
  for (const file of files)
    for (const exported of exportsOf(file, readFileSync(file, 'utf8'))) {
      const [home = '', name = ''] = exported.split(' ')
      homes.set(name, [...(homes.get(name) ?? []), home])
    }
  return [...homes].filter(([, homesOfName]) => homesOfName.length > 1)
}

test('no two files export the same name', () => {
  const within = (folder: string) => (path: string) => relative(root, path).startsWith(folder)
  // A handler is named as its operation, and the dashboard's table has some of the API's names: two namespaces.
  const product = importers.filter(within('src/'))
  assert.deepEqual(sharedNames(product.filter((path) => !within('src/console/')(path))), [])
  assert.deepEqual(sharedNames(product.filter(within('src/console/'))), [])
})

test('an export and its imports are recognised in every form', () => {
  const file = join(root, 'src', 'a.ts')
  const source = `export const one = 1
export interface Two {}
export async function three() {}
export class Four {}
const five = 5`
  assert.deepEqual(
    exportsOf(file, source),
    ['one', 'Two', 'three', 'Four'].map((name) => `src/a.ts ${name}`),
  )
  const importing = `import { one, type Two as Other } from '../a.ts'
import type {
  Four,
} from './b.ts'
import * as whole from './c.ts'
const later = await import('./d.ts')`
  assert.deepEqual(importsOf(join(root, 'src', 'x', 'y.ts'), importing), [
    'src/a.ts one',
    'src/a.ts Two',
    'src/x/b.ts Four',
    'src/x/b.ts ',
    'src/x/c.ts *',
    'src/x/d.ts *',
  ])
})
