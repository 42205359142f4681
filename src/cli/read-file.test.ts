import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { readJsonFile, readTextFile } from './read-file.ts'

let folder: string

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'outdial-read-file-'))
})
after(() => rmSync(folder, { recursive: true }))

const fileOf = (bytes: string | Uint8Array): string => {
  const path = join(folder, 'file')
  writeFileSync(path, bytes)
  return path
}

const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le')

describe('a file argument', () => {
  const text = 'Jürgen\t+12025550100\n'
  const encodings: readonly [string, Uint8Array][] = [
    ['UTF-8', Buffer.from(text)],
    ['UTF-8 with a byte order mark', Buffer.from(`\uFEFF${text}`)],
    ['UTF-16 of Windows', utf16(`\uFEFF${text}`)],
    ['UTF-16 the other way round', utf16(`\uFEFF${text}`).swap16()],
  ]
  for (const [name, bytes] of encodings) {
    it(`is read as ${name}`, () => assert.equal(readTextFile(fileOf(bytes)), text))
  }

  it('is refused in an ambiguous encoding', () => {
    const path = fileOf(Buffer.from(text, 'latin1'))
    assert.throws(() => readTextFile(path), { message: `${path} is not UTF-8 text.` })
  })

  it('is refused with its name if it is missing or not JSON', () => {
    assert.throws(
      () => readTextFile(join(folder, 'none')),
      /^FileArgumentError: There is no file \S+none\.$/,
    )
    assert.throws(() => readJsonFile(fileOf('{')), /file is not JSON: /)
  })

  it('is refused with the path if it is too deep, or a member is given twice', () => {
    assert.throws(
      () => readJsonFile(fileOf('['.repeat(65) + ']'.repeat(65))),
      /deeper than 64 levels/,
    )
    const json = '{"steps": {"a": 1, "a": 2}}'
    assert.throws(() => readJsonFile(fileOf(json)), /^InvalidFileError: steps\.a: .* twice\.$/)
  })
})
