// Runs beside others: it waits for most of its 128 s.
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { after, before, describe, it, test } from 'node:test'
import { commandBlocksOf } from '../support/document-blocks.ts'
import { createInstallation } from '../support/outdial-process.ts'
import { openReaderShell, type ReaderShell } from '../support/reader-shell.ts'

/** Every command block of README and docs, in order, as a newcomer pastes it into a new checkout. */

const root = join(import.meta.dirname, '../..')

/** In reading order; a document with commands that is missing here fails a test below. */
const documents = [
  'README.md',
  'docs/sandbox.md',
  'docs/policies.md',
  'docs/batches.md',
  'docs/automations.md',
  'docs/operations.md',
  'docs/agents.md',
  'docs/carriers.md',
]

const blockLimitMs = 180_000
const notCopied = new Set(['.git', '.runtime', 'node_modules', '.outdial', '.env'])

describe('the documents', () => {
  let checkout: string
  let shell: ReaderShell
  /** Blocks depend on earlier ones. */
  let failed: string | undefined
  let installation: Awaited<ReturnType<typeof createInstallation>>

  before(async () => {
    checkout = mkdtempSync(join(tmpdir(), 'outdial-reader-'))
    cpSync(root, checkout, {
      recursive: true,
      filter: (path) => !notCopied.has(relative(root, path).split('/').at(-1) ?? ''),
    })
    // The packages that `npm start` would fetch from the registry are here already.
    for (const name of ['node_modules', '.runtime'])
      symlinkSync(join(root, name), join(checkout, name))
    installation = await createInstallation()
    const { OUTDIAL_DATA: _, npm_execpath: __, ...env } = installation.env
    // A machine with an older Node runs the same commands; here the tests' Node comes first in PATH.
    env['PATH'] = `${dirname(process.execPath)}:${env['PATH'] ?? ''}`
    shell = openReaderShell({ folder: checkout, env })
  })

  after(async () => {
    await shell.close()
    installation.remove()
    rmSync(checkout, { recursive: true, force: true, maxRetries: 5 })
  })

  for (const document of documents)
    for (const block of commandBlocksOf(document, readFileSync(join(root, document), 'utf8')))
      if (block.manner.kind !== 'not_run')
        it(`${document}:${block.line} runs`, async () => {
          assert.equal(failed, undefined, 'a block before this one failed')
          failed = `${document}:${block.line}`
          await shell.run(block, blockLimitMs)
          failed = undefined
        })
})

test('every document with commands is read', () => {
  const all = [
    ...readdirSync(root).filter((name) => name.endsWith('.md')),
    ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name}`),
  ]
  const withCommands = all.filter(
    (document) => commandBlocksOf(document, readFileSync(join(root, document), 'utf8')).length > 0,
  )
  assert.deepEqual(withCommands.toSorted(), documents.toSorted())
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
