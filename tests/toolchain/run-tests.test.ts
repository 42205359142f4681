import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

const checkout = join(import.meta.dirname, '../..')
/** Limit for what does not hang, also on a busy machine. */
const fileTimeoutSeconds = 10

/** A small checkout with only our tests. */
let root: string
before(() => {
  root = mkdtempSync(join(tmpdir(), 'outdial-runner-'))
  for (const path of ['scripts', 'src/database', 'src/runtime', 'tests/support', 'package.json'])
    cpSync(join(checkout, path), join(root, path), {
      recursive: true,
      filter: (file) => !file.endsWith('.test.ts'),
    })
  symlinkSync(join(checkout, 'node_modules'), join(root, 'node_modules'))
})
after(() => rmSync(root, { recursive: true, force: true }))

const write = (file: string, body: string, firstLine = ''): void => {
  mkdirSync(join(root, 'src/sample/lanes'), { recursive: true })
  writeFileSync(
    join(root, 'src/sample', file),
    `${firstLine && `${firstLine}\n`}import assert from 'node:assert/strict'\nimport { test } from 'node:test'\n${body}\n`,
  )
}

const run = (...paths: string[]) => {
  const args = ['scripts/run-tests.mjs', `--file-timeout=${fileTimeoutSeconds}`, ...paths]
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: root,
    env,
    encoding: 'utf8',
  })
  return { status, stdout, stderr, lastLine: stdout.trimEnd().split('\n').at(-1) }
}

test('the runner counts what passes, and provides one database for all files', () => {
  write(
    'good.test.ts',
    `test('a', () => assert.ok(process.env.OUTDIAL_TEST_DATABASE))\ntest('b', async (t) => { await t.test('c', () => {}) })`,
  )
  const { status, lastLine } = run('src/sample/good')
  assert.equal(lastLine, '3 passed, 0 failed')
  assert.equal(status, 0)
})

test('every kind of failure is reported with a name and a reason', () => {
  write('assertion.test.ts', `test('sums', () => assert.equal(1 + 1, 3))\ntest('fine', () => {})`)
  write('broken.test.ts', `import './absent.ts'\ntest('never runs', () => {})`)
  write('crash.test.ts', `test('ends the process', () => process.kill(process.pid, 'SIGSEGV'))`)
  write('empty.test.ts', `assert.ok(test)`)
  write('hang.test.ts', `test('fine', () => {})\ntest('loops', () => { for (;;); })`)
  write('skip.test.ts', `test('needs a peer', { skip: 'no peer here' }, () => {})`)
  const { status, stdout, lastLine } = run('src/sample')
  assert.match(stdout, /src\/sample\/assertion\.test\.ts:3 {2}sums\n.*2 !== 3/s)
  assert.match(stdout, /src\/sample\/broken\.test\.ts.*absent\.ts/s)
  assert.match(stdout, /src\/sample\/crash\.test\.ts {2}ended with SIGSEGV/)
  assert.match(stdout, /src\/sample\/empty\.test\.ts {2}has no tests/)
  assert.match(stdout, /src\/sample\/hang\.test\.ts {2}hung and was killed after 10 s/)
  assert.match(stdout, /skipped: src\/sample\/skip\.test\.ts:3 {2}needs a peer \(no peer here\)/)
  // An endless loop blocks output: earlier passes in its file are not counted.
  assert.equal(lastLine, '4 passed, 5 failed, 1 skipped')
  assert.equal(status, 1)
})

test('files state how they run: working and waiting ones side by side, one alone at the end', () => {
  const noteTime = (name: string, meets: string) =>
    `import { appendFileSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
test('${name}', async () => {
  appendFileSync('order', '${name} begins\\n')
  while (!readFileSync('order', 'utf8').includes('${meets} begins'))
    await new Promise((resolve) => setTimeout(resolve, 20))
  appendFileSync('order', '${name} ends with ' + getPriority() + '\\n')
})`
  const waiting = '// Runs beside others: it waits for most of its 1 s.'
  write('lanes/alone.test.ts', noteTime('alone', 'alone'), '// Runs alone: it is a sample.')
  write('lanes/first.test.ts', noteTime('first', 'second'), waiting)
  write('lanes/second.test.ts', noteTime('second', 'works'), waiting)
  write('lanes/works.test.ts', noteTime('works', 'first'))
  const { lastLine, stdout } = run('src/sample/lanes')
  assert.equal(lastLine, '4 passed, 0 failed', stdout)
  const order = readFileSync(join(root, 'order'), 'utf8').trim().split('\n')
  assert.equal(order.at(-2), 'alone begins')
  const niceness = (name: string) =>
    Number(
      order
        .find((line) => line.startsWith(`${name} ends with `))
        ?.split(' ')
        .at(-1),
    )
  assert.equal(niceness('first'), niceness('alone'))
  assert.ok(process.platform === 'win32' || niceness('works') > niceness('first'), order.join())
  write('lanes/wrong.test.ts', noteTime('wrong', 'wrong'), '// Runs somehow.')
  const wrong = run('src/sample/lanes/wrong')
  assert.notEqual(wrong.status, 0)
  assert.match(wrong.stderr, /wrong\.test\.ts does not say how it runs: \/\/ Runs somehow/)
})
