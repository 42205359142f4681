import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { commandBlocksOf, type CommandBlock } from './document-blocks.ts'
import { createNewInstallation } from './outdial-process.ts'
import { openReaderShell, type ReaderShell } from './reader-shell.ts'

export const checkoutRoot = join(import.meta.dirname, '../..')

/** Each part is read in its order, by its own reader; the parts run side by side. */
export const documentParts = {
  first: [
    'README.md',
    'docs/sandbox.md',
    'docs/policies.md',
    'docs/operations.md',
    'docs/carriers.md',
  ],
  batches: [
    'docs/batches.md',
    'docs/automations.md',
    'docs/live.md',
    'docs/numbers.md',
    'docs/calls-back.md',
  ],
  agents: ['docs/agents.md', 'docs/trunks.md'],
} as const

const blockLimitMs = 180_000
const notCopied = new Set(['.git', '.runtime', 'node_modules', '.outdial', '.env'])

export const blocksOf = (document: string): CommandBlock[] =>
  commandBlocksOf(document, readFileSync(join(checkoutRoot, document), 'utf8'))

/** The README's `npm start`: with it every reader begins. */
const startBlockOf = (): CommandBlock => {
  const start = blocksOf('README.md').find(({ manner }) => manner.kind === 'runs_on')
  assert.ok(start, 'README.md starts the service')
  return start
}

/** Tests of every command block of the documents, in order, as a newcomer pastes it into a new checkout. */
export const describeReading = (documents: readonly string[]): void => {
  describe('the documents', () => {
    let checkout: string
    let shell: ReaderShell
    /** Blocks depend on earlier ones. */
    let failed: string | undefined
    let installation: Awaited<ReturnType<typeof createNewInstallation>>

    before(async () => {
      checkout = mkdtempSync(join(tmpdir(), 'outdial-reader-'))
      cpSync(checkoutRoot, checkout, {
        recursive: true,
        filter: (path) => !notCopied.has(relative(checkoutRoot, path).split('/').at(-1) ?? ''),
      })
      // The packages that `npm start` would fetch from the registry are here already.
      for (const name of ['node_modules', '.runtime'])
        symlinkSync(join(checkoutRoot, name), join(checkout, name))
      installation = await createNewInstallation()
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

    const blocks = documents.flatMap(blocksOf)
    const isStarted = documents.includes('README.md')
    for (const block of isStarted ? blocks : [startBlockOf(), ...blocks])
      if (block.manner.kind !== 'not_run')
        it(`${block.document}:${block.line} runs`, async () => {
          assert.equal(failed, undefined, 'a block before this one failed')
          failed = `${block.document}:${block.line}`
          await shell.run(block, blockLimitMs)
          failed = undefined
        })
  })
}
