import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { test } from 'node:test'

/** What every domain may import, besides the domains before it. */
const belowDomains = [
  'runtime',
  'contract',
  'numbering',
  'calling-hours',
  'database',
  'storage',
  'jobs',
  'domains/*',
] as const

/**
 * The floor plan, lowest first: each folder of src/ (and the files beside them), and the only others
 * it may import. A domain may import the domains before it.
 */
const floorPlan: Readonly<Record<string, readonly string[]>> = {
  runtime: [],
  contract: [],
  audio: [],
  numbering: ['contract'],
  'calling-hours': ['runtime', 'contract'],
  storage: ['runtime'],
  database: ['runtime'],
  jobs: ['runtime', 'database'],
  sdp: ['runtime', 'audio'],
  'sip/message': ['runtime'],
  'sip/digest': ['runtime', 'sip/*'],
  'sip/transport': ['runtime', 'sip/*'],
  'sip/gate': ['runtime', 'sip/*'],
  'sip/transaction': ['runtime', 'sip/*'],
  'sip/dialog': ['runtime', 'sip/*'],
  'sip/user-agent': ['runtime', 'sip/*'],
  rtp: ['runtime', 'audio', 'sdp'],
  telephony: ['runtime', 'audio', 'sdp', 'sip/*', 'rtp'],
  'call-text': ['runtime', 'contract'],
  'conversation/engine': ['runtime', 'contract', 'audio', 'call-text'],
  'conversation/tools': ['runtime', 'contract', 'audio', 'conversation/engine'],
  'conversation/answering-party': ['runtime', 'audio', 'call-text', 'conversation/engine'],
  'conversation/turn-taking': ['audio', 'call-text'],
  'conversation/loop': [
    'runtime',
    'audio',
    'call-text',
    'conversation/turn-taking',
    'conversation/engine',
    'conversation/tools',
    'conversation/answering-party',
  ],
  'conversation/engines': [
    'runtime',
    'contract',
    'audio',
    'call-text',
    'conversation/engine',
    'conversation/tools',
  ],
  http: ['runtime', 'contract', 'database'],
  'domains/api-handler.ts': ['contract', 'database'],
  'domains/organizations': [
    'runtime',
    'contract',
    'numbering',
    'calling-hours',
    'database',
    'storage',
  ],
  'domains/audit': belowDomains,
  'domains/requests': belowDomains,
  'domains/trunks': belowDomains,
  'domains/providers': belowDomains,
  'domains/numbers': belowDomains,
  'domains/calls-back': belowDomains,
  'domains/api-keys': belowDomains,
  'domains/contacts': belowDomains,
  'domains/agents': belowDomains,
  'domains/calls': belowDomains,
  'domains/results': belowDomains,
  'domains/recordings': belowDomains,
  'domains/retention': belowDomains,
  'domains/batches': belowDomains,
  'domains/automations': belowDomains,
  identity: ['runtime', 'contract', 'database', 'domains/*'],
  console: ['runtime', 'contract', 'storage', 'database', 'domains/*', 'identity'],
  dispatch: ['runtime', 'contract', 'calling-hours', 'numbering', 'database', 'domains/*'],
  'live-call': [
    'runtime',
    'contract',
    'audio',
    'storage',
    'jobs',
    'rtp',
    'telephony',
    'call-text',
    'conversation/*',
    'domains/*',
  ],
  config: ['runtime', 'contract'],
  operator: [
    'runtime',
    'contract',
    'numbering',
    'storage',
    'database',
    'sip/*',
    'telephony',
    'conversation/*',
    'http',
    'domains/*',
    'identity',
    'dispatch',
    'live-call',
    'config',
  ],
  compose: ['*'],
  cli: [
    'compose',
    'operator',
    'config',
    'storage',
    'runtime',
    'contract',
    'numbering',
    'calling-hours',
    'database',
    'identity',
    'domains/*',
  ],
  'main.ts': ['cli', 'database', 'config', 'runtime'],
}

/** Folders for pass-through only: their types may be imported, nothing else. */
const typesOnly: Readonly<Record<string, readonly string[]>> = {
  // The transaction that a call ends in goes through live-call to the stores.
  'live-call': ['database'],
  // A trunk's faults belong to telephony, their consequences to dispatch.
  dispatch: ['telephony'],
}

/** More files than this at one level need folders of their own. */
const mostFilesOfAFolder = 40

/** Browsers read the contract too. */
const packagesOfContract = new Set(['zod'])

const bannedNames = new Set(
  'utils util common helpers helper lib core shared services manager misc index'.split(' '),
)

const root = join(import.meta.dirname, '..')
const src = join(root, 'src')

const listTypeScript = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))

/** Folders whose rooms have lines of their own on the plan. */
const foldersOfRooms = new Set(['domains', 'conversation', 'sip'])

const folderOf = (file: string): string => {
  const parts = file.split('/')
  return foldersOfRooms.has(parts[0] ?? '') ? parts.slice(0, 2).join('/') : (parts[0] ?? '')
}

interface Import {
  readonly file: string
  readonly target: string
  readonly isTypeOnly: boolean
}

/** Static and dynamic imports, re-exports, and the files that worker threads are started from. */
const importPattern =
  /^\s*(?:import|export)\s+(type\s)?[^'";]*?from\s+'([^']+)'|^\s*import\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)|new URL\(\s*'([^']+)'/gm

const exportPattern = /^export (?:async )?(?:const|function|class|interface|type) (\w+)/gm

const importsOf = (file: string): Import[] =>
  [...readFileSync(join(src, file), 'utf8').matchAll(importPattern)].map((match) => ({
    file,
    target: match[2] ?? match[3] ?? match[4] ?? match[5] ?? '',
    isTypeOnly: match[1] !== undefined,
  }))

const files = listTypeScript(src)
const allImports = files.flatMap(importsOf)
const isTest = (file: string): boolean => file.endsWith('.test.ts')

/** Imports within the repository, with their target relative to src/. */
const imports = allImports
  .filter(({ target }) => /^\.\.?\//.test(target) && target.endsWith('.ts'))
  .map((each) => ({ ...each, target: relative(src, join(src, dirname(each.file), each.target)) }))

const order = Object.keys(floorPlan)
const isBelow = (lower: string, upper: string): boolean =>
  order.indexOf(lower) < order.indexOf(upper)

const matches = (rule: string, from: string, to: string): boolean =>
  rule === to ||
  rule === '*' ||
  (rule.endsWith('/*') && to.startsWith(rule.slice(0, -1)) && isBelow(to, from))

const isAllowed = ({ file, target, isTypeOnly }: Import): boolean => {
  if (target.startsWith('../')) return isTest(file) && target.startsWith('../tests/support/')
  const [from, to] = [folderOf(file), folderOf(target)]
  if (from === to) return true
  if (isTest(file) && from === to.replace('.ts', '.test.ts')) return true
  // A room is tried by the whole conversation, or the whole user agent and the SDP that it carries.
  if (isTest(file) && [from, to].every((room) => room.startsWith('conversation/'))) return true
  if (isTest(file) && [from, to].every((room) => /^(sip\/|sdp$)/.test(room))) return true
  if (isTypeOnly && typesOnly[from]?.includes(to)) return true
  return floorPlan[from]?.some((rule) => matches(rule, from, to)) ?? false
}

test('the plan is checked against real files and real imports', () => {
  assert.ok(files.length > 40, `only ${files.length} files`)
  assert.ok(
    imports.length > files.length,
    `only ${imports.length} imports of ${files.length} files`,
  )
  const known = new Set(files)
  const unknown = imports.filter(({ target }) => !target.startsWith('../') && !known.has(target))
  assert.deepEqual(unknown, [])
})

test('an upward import, a lateral domain and a cycle are detected', () => {
  const from = (file: string, target: string, isTypeOnly = false) =>
    isAllowed({ file, target, isTypeOnly })
  assert.equal(from('runtime/clock.ts', 'database/database.ts'), false)
  assert.equal(from('domains/calls/a.ts', 'domains/contacts/b.ts'), true)
  assert.equal(from('domains/contacts/a.ts', 'domains/calls/b.ts'), false)
  assert.equal(from('live-call/a.ts', 'database/database.ts', true), true)
  assert.equal(from('live-call/a.ts', 'database/database.ts'), false)
  assert.equal(from('conversation/loop/a.ts', 'conversation/engine/b.ts'), true)
  assert.equal(from('conversation/engine/a.ts', 'conversation/loop/b.ts'), false)
  assert.equal(from('conversation/loop/a.ts', 'conversation/engines/b.ts'), false)
  assert.equal(from('sip/dialog/a.ts', 'sip/transaction/b.ts'), true)
  assert.equal(from('sip/gate/a.ts', 'sip/dialog/b.ts'), false)
  assert.equal(from('telephony/a.ts', 'sip/user-agent/b.ts'), true)
  assert.equal(from('http/a.ts', '../tests/support/b.ts'), false)
  assert.equal(from('http/a.test.ts', '../tests/support/b.ts'), true)
  const knot = { a: ['b'], b: ['c'], c: ['b'] }
  const targets = new Map(Object.entries(knot).map(([file, to]) => [file, new Set(to)]))
  assert.deepEqual(findCycle(targets), ['b', 'c', 'b'])
})

test('each folder is on the plan', () => {
  const folders = new Set(files.map((file) => folderOf(file).replace('.test.ts', '.ts')))
  assert.deepEqual(
    [...folders].filter((folder) => !(folder in floorPlan)),
    [],
  )
})

test('the plan only points down', () => {
  for (const [folder, rules] of Object.entries(floorPlan))
    for (const rule of rules.filter((each) => !each.includes('*')))
      assert.ok(
        rule in floorPlan && isBelow(rule, folder),
        `${folder} may import ${rule}, which is not below it`,
      )
})

test('each import follows the plan', () => {
  const upward = imports.filter((each) => !isAllowed(each))
  assert.deepEqual(
    upward.map(({ file, target }) => `${file} imports ${target}`),
    [],
  )
})

/** Inserts a row of `calls`, or assigns what its lifecycle consists of. */
const movesCall =
  /insert into calls\b|update calls\b[^`]*?\b(?:status|lease_token|node_id|dialing_at|connected_at|ended_at)\s*=(?!=)/

test('only the lifecycle of calls moves a call', () => {
  const lifecycle = 'domains/calls/lifecycle/'
  const moving = files.filter(
    (file) => !isTest(file) && movesCall.test(readFileSync(join(src, file), 'utf8')),
  )
  assert.deepEqual(
    moving.filter((file) => !file.startsWith(lifecycle)),
    [],
  )
  assert.ok(moving.length > 8, `only ${moving.length} files move a call`)
})

test('the contract needs nothing that a browser lacks', () => {
  const packages = allImports
    .filter(
      ({ file, target }) =>
        file.startsWith('contract/') && !isTest(file) && !target.startsWith('.'),
    )
    .filter(({ target }) => !packagesOfContract.has(target))
  assert.deepEqual(packages, [])
})

test('src holds the product and its tests, and nothing else', () => {
  const product = filesOfProduct(new Map(files.map((file) => [file, targetsOf(file)])))
  const others = files.filter((file) => !isTest(file) && !product.has(file))
  assert.deepEqual(
    others.filter((file) => !file.endsWith('.d.ts')),
    [],
    'a file that only tests import stands in tests/support/<room>/',
  )
  assert.deepEqual(files.filter(isNamedForTests), [])
})

test('a fixture in src is recognised by its importers and by its name', () => {
  const targets = new Map([
    ['main.ts', new Set(['a/a.ts'])],
    ['a/a.ts', new Set<string>()],
    ['a/b.ts', new Set(['a/a.ts'])],
  ])
  assert.deepEqual([...filesOfProduct(targets)], ['main.ts', 'a/a.ts'])
  const names = ['a/b.fixtures.ts', 'a/fake-b.ts', 'a/b-conformance.ts', 'a/factory.ts']
  assert.deepEqual(names.map(isNamedForTests), [true, true, true, false])
})

test('no file reaches itself through its imports', () => {
  assert.deepEqual(findCycle(new Map(files.map((file) => [file, targetsOf(file)]))), [])
})

test('compose wires and nothing else', () => {
  const wiring = files.filter((file) => file.startsWith('compose/') && !isTest(file))
  assert.ok(wiring.length > 5, `only ${wiring.length} files`)
  const faults = wiring.flatMap((file) =>
    wiringFaults(readFileSync(join(src, file), 'utf8')).map((fault) => `${file}: ${fault}`),
  )
  assert.deepEqual(faults, [])
})

test('SQL, a prompt and a decision in the wiring are detected', () => {
  const samples = [
    ['const a = sql(`select 1`)', 'SQL'],
    ["const a = 'insert into calls'", 'SQL'],
    ['await db.rows(statement, [])', 'a statement that is run'],
    ["import { sql, type Database } from '../database/database.ts'", 'a statement that is made'],
    ["const greeting = 'Hello {{contact.name}}'", 'words for people or models'],
    ['const instructions = `You are "${agent.name}".\\n${prompt}`', 'words for people or models'],
    [`const a = '${'word '.repeat(maxWordsOfWiring + 1)}'`, 'words for people or models'],
    ["if (call.route === 'sandbox') return", 'a comparison with a value'],
    ['if (attempts >= 3) return', 'a comparison with a value'],
    ['switch (kind) {}', 'a choice between kinds'],
    ['const callsPerSecond = 50', 'a figure'],
    ['const limitMs = 5_000', 'a figure'],
  ] as const
  for (const [text, fault] of samples) assert.ok(wiringFaults(text).includes(fault), text)
  const wiring = `
    // At most 30 of them; select nothing.
    import type { Database } from '../database/database.ts'
    const api = createApi({ port: config.http.apiPort ?? 0, isOpen: trunk !== undefined })
    logger.info({}, 'the API is ready')
    for (const one of roles) if (one === undefined) await run(one)`
  assert.deepEqual(wiringFaults(wiring), [])
})

test('only the reader of settings reads the environment', () => {
  const readers = files.filter(
    (file) => !isTest(file) && /\bprocess\.env\b/.test(readFileSync(join(src, file), 'utf8')),
  )
  assert.deepEqual(
    readers.filter((file) => file !== 'config/read-config.ts'),
    [],
  )
})

test('no folder or file has a meaningless name', () => {
  const banned = ['src', 'tests', 'benchmarks', 'scripts']
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }))
    .filter((path) => !path.includes('node_modules'))
    .filter((path) => bannedNames.has(basename(path).replace(/(\.test)?\.[a-z]+$/, '')))
  assert.deepEqual(banned, [])
})

test('below the conversation, each exported name is declared once', () => {
  const homes = new Map<string, string[]>()
  for (const file of files.filter((each) => /^(audio|sdp|sip|rtp|telephony)\//.test(each)))
    for (const [, name = ''] of readFileSync(join(src, file), 'utf8').matchAll(exportPattern))
      homes.set(name, [...(homes.get(name) ?? []), file])
  assert.ok(homes.size > 100, `only ${homes.size} names`)
  assert.deepEqual(
    [...homes].filter(([, declaring]) => declaring.length > 1),
    [],
  )
})

test('no folder has more files than a person can scan at once', () => {
  const counts = new Map<string, number>()
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
  assert.deepEqual(
    [...counts].filter(([, count]) => count > mostFilesOfAFolder),
    [],
  )
})

/** A log message has fewer. */
const maxWordsOfWiring = 10

/**
 * The parts of a file beyond wiring: statements, words, figures, and decisions by a value. Comments do not count.
 */
const wiringFaults = (source: string): string[] => {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
  const literal = /'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g
  const texts = code.match(literal) ?? []
  const bare = code.replaceAll(literal, "''")
  const has: Readonly<Record<string, boolean>> = {
    SQL: texts.some((text) => /\b(?:select|insert into|update|delete from)\b/i.test(text)),
    'a statement that is run': /\b(?:db|database|tx|client|pool)\.(?:query|rows?|run)\(/.test(bare),
    'a statement that is made': /import \{[^}]*\bsql\b[^}]*\} from/.test(bare),
    'words for people or models': texts.some(
      (text) => /\{\{|\\n/.test(text) || text.split(/\s+/).length > maxWordsOfWiring,
    ),
    'a comparison with a value': /(?:[=!]==|(?<![=-])[<>]=?)\s*(?:''|\d)/.test(bare),
    'a choice between kinds': /\bswitch\b/.test(bare),
    'a figure': /(?<![\w.])(?![01]\b(?!\.))\d/.test(bare),
  }
  return Object.keys(has).filter((fault) => has[fault])
}

const targetsOf = (file: string): ReadonlySet<string> =>
  new Set(imports.filter((each) => each.file === file).map(({ target }) => target))

/** What the program reaches, its worker threads included. */
const filesOfProduct = (targets: ReadonlyMap<string, ReadonlySet<string>>): Set<string> => {
  const product = new Set(['main.ts'])
  // A set that grows while it is walked is walked to its end.
  for (const file of product) for (const target of targets.get(file) ?? []) product.add(target)
  return product
}

const isNamedForTests = (file: string): boolean =>
  /(\.fixtures|-conformance)\.ts$|(^|\/)fake-[^/]+$/.test(file)

/** The files of one cycle, in order; none without a cycle. */
const findCycle = (targets: ReadonlyMap<string, ReadonlySet<string>>): string[] => {
  const finished = new Set<string>()
  const path: string[] = []
  const visit = (file: string): string[] => {
    if (finished.has(file)) return []
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    path.push(file)
    for (const target of targets.get(file) ?? []) {
      const cycle = visit(target)
      if (cycle.length > 0) return cycle
    }
    path.pop()
    finished.add(file)
    return []
  }
  for (const file of targets.keys()) {
    const cycle = visit(file)
    if (cycle.length > 0) return cycle
  }
  return []
}

const dashboard = join(root, 'dashboard')

/** Sources of the dashboard, and the script that builds it. */
const dashboardFiles = ['src', 'build', 'build.ts'].flatMap((place) =>
  place.endsWith('.ts')
    ? [place]
    : readdirSync(join(dashboard, place), { recursive: true, encoding: 'utf8' })
        .filter((file) => /\.tsx?$/.test(file))
        .map((file) => join(place, file)),
)

test('the dashboard imports the contract and nothing else of the product', () => {
  const outside = dashboardFiles.flatMap((file) =>
    [...readFileSync(join(dashboard, file), 'utf8').matchAll(importPattern)]
      .map((match) => match[2] ?? match[3] ?? match[4] ?? match[5] ?? '')
      .filter((target) => target.startsWith('.'))
      .map((target) => relative(root, join(dashboard, dirname(file), target)))
      .filter((target) => !target.startsWith('dashboard/')),
  )
  assert.ok(outside.length > 0, 'no import of the contract was seen')
  assert.deepEqual(
    outside.filter((target) => !target.startsWith('src/contract/')),
    [],
  )
})
