import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

const checkout = join(import.meta.dirname, '../..')
const fileTimeoutSeconds = 2

/** A small checkout whose only tests are ours. */
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

const write = (file: string, body: string): void => {
  mkdirSync(join(root, 'src/sample'), { recursive: true })
  writeFileSync(
    join(root, 'src/sample', file),
    `import assert from 'node:assert/strict'\nimport { test } from 'node:test'\n${body}\n`,
  )
}

const run = (...paths: string[]) => {
  const args = ['scripts/run-tests.mjs', `--file-timeout=${fileTimeoutSeconds}`, ...paths]
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' })
  return { status, stdout, lastLine: stdout.trimEnd().split('\n').at(-1) }
}

test('the runner counts what passes, and hands out one database for all files', () => {
  write(
    'good.test.ts',
    `test('a', () => assert.ok(process.env.OUTDIAL_TEST_DATABASE))\ntest('b', async (t) => { await t.test('c', () => {}) })`,
  )
  const { status, lastLine } = run('src/sample/good')
  assert.equal(lastLine, '3 passed, 0 failed')
  assert.equal(status, 0)
})

test('every way to fail is a failure with a name and a reason', () => {
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
  assert.match(stdout, /src\/sample\/hang\.test\.ts {2}hung and was killed after 2 s/)
  assert.match(stdout, /skipped: src\/sample\/skip\.test\.ts:3 {2}needs a peer \(no peer here\)/)
  // A loop lets nothing out: what passed before it in its file is not counted.
  assert.equal(lastLine, '4 passed, 5 failed, 1 skipped')
  assert.equal(status, 1)
})
