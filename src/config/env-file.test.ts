import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readEnvFile } from './env-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'outdial-env-'))
const path = join(folder, '.env')
after(() => rmSync(folder, { recursive: true }))

/** As the program's own: what begins with OUTDIAL_ is known or wrong. */
const problemOfName = (name: string): string | undefined =>
  name === 'OUTDIAL_API_PROT' ? `${name} is not a setting.` : undefined

const read = (text: string) => {
  writeFileSync(path, text)
  return readEnvFile(folder, problemOfName)
}

const problemsOf = (text: string): readonly string[] =>
  read(text).problems.map((problem) => problem.replace(`${path} `, ''))

test('a folder without the file sets nothing', () => {
  const none = join(folder, 'none')
  assert.deepEqual(readEnvFile(none, problemOfName), {
    values: {},
    places: new Map(),
    problems: [],
  })
})

test('the file is read as Node reads it', () => {
  const text = [
    '\uFEFF# a comment',
    '',
    'OUTDIAL_API_PORT=4100 # its port',
    'export OUTDIAL_HOST = "127.0.0.1"',
    "OUTDIAL_PRICES='a",
    "b=c'",
    'AWS_REGION=eu-central-1\r',
  ].join('\n')
  assert.deepEqual(
    { ...read(text).values },
    {
      OUTDIAL_API_PORT: '4100',
      OUTDIAL_HOST: '127.0.0.1',
      OUTDIAL_PRICES: 'a\nb=c',
      AWS_REGION: 'eu-central-1',
    },
  )
})

test('an unknown setting and a malformed line are reported with their numbers', () => {
  const text = 'OUTDIAL_HOST=::1\nOUTDIAL_API_PROT=1\nhello\n=x\nOUTDIAL_PRICES="open\n'
  assert.deepEqual(problemsOf(text), [
    'line 2: OUTDIAL_API_PROT is not a setting.',
    'line 3: it must be a comment, or NAME=value.',
    'line 4: it must be a comment, or NAME=value.',
    'line 5: the value of OUTDIAL_PRICES begins with " and never ends.',
  ])
})

test('a file that contains no settings is refused', () => {
  assert.match(problemsOf('#'.repeat(70_000))[0] ?? '', /larger than 64 KiB/)
})

test('each value has its line, the last one of a name that is set twice', () => {
  const { places } = read("A=1\n# B=2\nB='x\ny'\nC=3\nA=4\n")
  assert.deepEqual(
    [...places],
    [
      ['A', `${path} line 6`],
      ['B', `${path} line 3`],
      ['C', `${path} line 5`],
    ],
  )
})
