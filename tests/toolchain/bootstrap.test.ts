import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, test } from 'node:test'
import { commandGroups } from '../../src/cli/commands.ts'

const checkout = join(import.meta.dirname, '../..')

/** Stands in for npm: installs a package that names its lock file, and counts its calls. */
const npm = `#!/bin/sh
echo "$@" >>"$CALLS"
[ -z "$NPM_FAILS" ] || exit 1
mkdir -p node_modules/.bin
touch "$CALLS.half"
[ -z "$NPM_HANGS" ] || exec sleep 60
cp package-lock.json node_modules/installed.json
`

let root: string
let calls: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'outdial-bootstrap-'))
  calls = join(root, 'calls')
  cpSync(join(checkout, 'scripts'), join(root, 'scripts'), { recursive: true })
  cpSync(join(checkout, 'bin'), join(root, 'bin'), { recursive: true })
  mkdirSync(join(root, 'path'))
  writeFileSync(join(root, 'path/npm'), npm, { mode: 0o755 })
  mkdirSync(join(root, 'src'))
  writeFileSync(
    join(root, 'src/main.ts'),
    `console.log(JSON.stringify(process.argv.slice(2)))\nprocess.exitCode = 7\n`,
  )
  writeFileSync(join(root, 'package.json'), '{"type":"module"}')
  lock('first')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const lock = (name: string): void =>
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ name, packages: { a: {} } }))
const installed = (): string => readFileSync(join(root, 'node_modules/installed.json'), 'utf8')
const countCalls = (): number => readFileSync(calls, 'utf8').split('\n').length - 1

const environment = (more: Record<string, string> = {}): NodeJS.ProcessEnv => {
  const { npm_execpath: _, ...env } = process.env
  // Programs with a shebang run on the tests' Node, not on an older one of the machine.
  const path = [join(root, 'path'), dirname(process.execPath), env['PATH']].join(':')
  return { ...env, PATH: path, CALLS: calls, ...more }
}

const run = (args: string[], more?: Record<string, string>) =>
  spawnSync(process.execPath, ['scripts/bootstrap.mjs', ...args], {
    cwd: root,
    env: environment(more),
    encoding: 'utf8',
  })

test('the first run installs, later ones do not, and the command gets its arguments and returns its status', () => {
  const first = run(['dial', '--follow', '+12025550100'])
  assert.equal(first.stdout, '["dial","--follow","+12025550100"]\n')
  assert.equal(first.status, 7)
  assert.equal(run(['start']).status, 7)
  assert.equal(countCalls(), 1)
  assert.deepEqual(
    readdirSync(join(root, '.runtime')).filter((name) => name.startsWith('staging')),
    [],
  )
})

test('every command of outdial reaches it: no script of the checkout has its name', () => {
  const names = commandGroups
    .flatMap(({ help }) => Object.keys(help))
    .map((each) => each.split(' ')[0] ?? '')
  assert.ok(names.includes('provider'))
  for (const name of names) assert.equal(run([name, 'list']).stdout, `["${name}","list"]\n`, name)
})

test('running the product installs no development package, and working on it installs them once', () => {
  mkdirSync(join(root, 'benchmarks'))
  writeFileSync(join(root, 'benchmarks/claim.ts'), '')
  const installs = () => readFileSync(calls, 'utf8').match(/--(omit|include)=dev/g)
  run(['start'])
  run(['call', 'list'])
  assert.deepEqual(installs(), ['--omit=dev'])
  run(['bench', 'claim'])
  assert.deepEqual(installs(), ['--omit=dev', '--include=dev'])
  // A complete installation is enough for running.
  run(['start'])
  run(['bench', 'claim'])
  assert.equal(countCalls(), 2)
})

test('an installation by npm itself, without development packages, is enough for running', () => {
  const packages = {
    'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
    'node_modules/b': { version: '1.0.0', integrity: 'sha512-b', dev: true },
  }
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages }))
  mkdirSync(join(root, 'node_modules/.bin'), { recursive: true })
  const { 'node_modules/a': a } = packages
  const record = join(root, 'node_modules/.package-lock.json')
  writeFileSync(record, JSON.stringify({ packages: { 'node_modules/a': a } }))
  assert.equal(run(['start']).status, 7)
  assert.equal(existsSync(calls), false)
  mkdirSync(join(root, 'benchmarks'))
  writeFileSync(join(root, 'benchmarks/claim.ts'), '')
  run(['bench', 'claim'])
  assert.equal(countCalls(), 1)
})

test('the installed command is the same program', () => {
  run(['start'])
  const linked = join(root, 'node_modules/.bin/outdial')
  const answer = spawnSync(linked, ['--help'], { env: environment(), encoding: 'utf8' })
  assert.equal(answer.stdout, '["--help"]\n')
  assert.equal(answer.status, 7)
})

test('a property name of every JavaScript object is a command like any other', () => {
  assert.equal(run(['constructor', '--help']).stdout, '["constructor","--help"]\n')
})

test('a script of the checkout with --help prints its description, and is not run', () => {
  mkdirSync(join(root, 'benchmarks'))
  writeFileSync(join(root, 'benchmarks/one.ts'), '/**\n * Measures one.\n */\nprocess.exit(9)\n')
  writeFileSync(join(root, 'benchmarks/two.ts'), '// Measures two,\n// `npm run bench two`.\nx()\n')
  for (const [words, told] of [
    [['bench', 'one', '--help'], 'Measures one.\n'],
    [['bench', 'two', '-h'], 'Measures two,\n`npm run bench two`.\n'],
    [['bench', '--help'], 'Measures one.\n\nMeasures two,\n`npm run bench two`.\n'],
  ] as const) {
    const { stdout, stderr, status } = run([...words])
    assert.deepEqual([stdout, stderr, status], [told, '', 0])
  }
  assert.equal(run(['bench', 'three', '--help']).status, 2)
})

test('a changed lock file replaces the packages', () => {
  run(['start'])
  lock('second')
  run(['start'])
  assert.match(installed(), /second/)
  assert.equal(countCalls(), 2)
})

test('a failed install leaves the old packages, and reports it', () => {
  run(['start'])
  lock('second')
  const failed = run(['start'], { NPM_FAILS: '1' })
  assert.equal(failed.status, 1)
  assert.match(failed.stderr, /npm could not install the packages \(exit status 1\)/)
  assert.match(installed(), /first/)
})

test('a waiting install reports its reason, and ends at its limit with a remedy', async () => {
  const script = `
    import { installLocked } from './scripts/install/npm.mjs'
    const limits = { installTimeoutMs: 3000, requestTimeoutMs: 1000, progressIntervalMs: 1000 }
    await installLocked('.', process.execPath, { limits }).catch((error) => console.log(error.message))`
  const hanging = `#!/bin/sh\n[ "$1" = config ] && echo https://registry.test/ && exit\nexec sleep 60\n`
  writeFileSync(join(root, 'path/npm'), hanging, { mode: 0o755 })
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    env: environment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [told, progress] = await Promise.all([text(child.stdout), text(child.stderr)])
  assert.match(progress, /Still installing from https:\/\/registry\.test\/ after \d s \(limit 3 s;/)
  assert.match(told, /npm did not install the packages within 3 s: check the network and the proxy/)
})

test('the launcher of a checkout runs from any folder and by a link', () => {
  run(['start'])
  cpSync(join(checkout, 'outdial'), join(root, 'outdial'))
  symlinkSync(join(root, 'outdial'), join(root, 'path/outdial'))
  for (const program of [join(root, 'outdial'), 'outdial']) {
    const answer = spawnSync(program, ['doctor'], {
      cwd: tmpdir(),
      env: environment(),
      encoding: 'utf8',
    })
    assert.equal(answer.stdout, '["doctor"]\n')
  }
})

test('an install killed half-way leaves the old packages, and the next run completes it', async () => {
  run(['start'])
  rmSync(`${calls}.half`)
  lock('second')
  const watcher = watch(root)
  const child = spawn(process.execPath, ['scripts/bootstrap.mjs', 'start'], {
    cwd: root,
    env: environment({ NPM_HANGS: '1' }),
    stdio: 'ignore',
    detached: true,
  })
  while (!existsSync(`${calls}.half`)) await once(watcher, 'change')
  watcher.close()
  process.kill(-(child.pid ?? 0), 'SIGKILL')
  await once(child, 'exit')
  assert.match(installed(), /first/)
  run(['start'])
  assert.match(installed(), /second/)
  assert.deepEqual(
    readdirSync(join(root, '.runtime')).filter((name) => name.startsWith('staging')),
    [],
  )
})

test('several simultaneous first runs all work', async () => {
  const children = [1, 2, 3, 4].map((n) =>
    spawn(process.execPath, ['scripts/bootstrap.mjs', String(n)], {
      cwd: root,
      env: environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  const answers = await Promise.all(children.map(async ({ stdout }) => text(stdout)))
  assert.deepEqual(answers, ['["1"]\n', '["2"]\n', '["3"]\n', '["4"]\n'])
  assert.match(installed(), /first/)
})

test('an unknown benchmark is a usage error that names the others', () => {
  mkdirSync(join(root, 'benchmarks'))
  writeFileSync(join(root, 'benchmarks/claim.ts'), 'console.log("claims")')
  assert.equal(run(['bench', 'claim']).stdout, 'claims\n')
  const unknown = run(['bench', 'clam'])
  assert.equal(unknown.status, 2)
  assert.equal(unknown.stderr, 'No script is named clam: choose from claim.\n')
})

test('Ctrl-C, which comes from the terminal and from npm, reaches the command once', async () => {
  run(['start'])
  writeFileSync(
    join(root, 'src/main.ts'),
    `let signals = 0
process.on('SIGINT', () => {
  signals += 1
  if (signals === 1) setTimeout(() => { console.log(signals); process.exit(7) }, 200)
})
setInterval(() => {}, 1000)
console.log('ready')`,
  )
  const child = spawn(process.execPath, ['scripts/bootstrap.mjs', 'start'], {
    cwd: root,
    env: environment({ npm_execpath: '/usr/lib/npm/bin/npm-cli.js' }),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  const rest = text(child.stdout)
  child.kill('SIGINT')
  child.kill('SIGINT')
  const [status] = (await once(child, 'exit')) as [number]
  assert.equal(status, 7)
  assert.equal(await rest, '1\n')
})

test('when the bootstrap is killed hard, the command receives a termination signal', async () => {
  run(['start'])
  writeFileSync(
    join(root, 'src/main.ts'),
    `process.on('SIGTERM', () => { console.log('asked'); process.exit(0) })
setInterval(() => {}, 1000)
console.log('ready')`,
  )
  const child = spawn(process.execPath, ['scripts/bootstrap.mjs', 'start'], {
    cwd: root,
    env: environment({ npm_execpath: '/usr/lib/npm/bin/npm-cli.js' }),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  const rest = text(child.stdout)
  child.kill('SIGKILL')
  assert.equal(await rest, 'asked\n')
})
