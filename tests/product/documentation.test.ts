// Runs beside others: it waits for most of its 52 s.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { commandBlocksOf } from '../support/document-blocks.ts'
import {
  blocksOf,
  checkoutRoot,
  describeReading,
  documentParts,
} from '../support/document-reading.ts'
import { openReaderShell } from '../support/reader-shell.ts'

describeReading(documentParts.first)

test('every document with commands is read', () => {
  const all = [
    ...readdirSync(checkoutRoot).filter((name) => name.endsWith('.md')),
    ...readdirSync(join(checkoutRoot, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name}`),
  ]
  const withCommands = all.filter((document) => blocksOf(document).length > 0)
  assert.deepEqual(withCommands.toSorted(), Object.values(documentParts).flat().toSorted())
})

test('a failing command fails its block, and one that keeps running stays until it is replaced', async () => {
  const shell = openReaderShell({ folder: tmpdir(), env: { PATH: process.env['PATH'] ?? '' } })
  const blockOf = (text: string) => {
    const [block] = commandBlocksOf('example.md', text)
    assert.ok(block)
    return block
  }
  try {
    await shell.run(blockOf('```sh\nNAME=Ada\n```'), 10_000)
    assert.match(await shell.run(blockOf('```sh\necho "Hello $NAME"\n```'), 10_000), /Hello Ada/)
    await assert.rejects(
      shell.run(blockOf('```sh\necho one\nls /no/such/folder\necho two\n```'), 10_000),
      /FAILED: ls \/no\/such\/folder/,
    )
    await shell.run(
      blockOf(
        '<!-- runs on in terminal a until "up" -->\n\n```sh\nX=1 sh -c "echo up; sleep 30"\n```',
      ),
      10_000,
    )
  } finally {
    await shell.close()
  }
  assert.throws(
    () => commandBlocksOf('example.md', '<!-- maybe -->\n```sh\nls\n```'),
    /does not say/,
  )
})
