import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { silentLogger } from '../../runtime/logger.ts'
import { adoptSpools, createSpoolSweeper, type AdoptSpoolsDependencies } from './adopt-spools.ts'
import type { CallKey } from '../../domains/results/transcript-store.ts'
import { encodeSpoolHeader } from './spool-format.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'

const anHourLater = (): number => Date.now() + 3_600_000

describe('the sweep of spools', () => {
  let folder = ''
  let asked: CallKey[] = []
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'outdial-sweep-'))
    asked = []
  })
  afterEach(() => rm(folder, { recursive: true }))

  const deps = (state: Awaited<ReturnType<AdoptSpoolsDependencies['adopt']>>) => ({
    spoolFolder: folder,
    adopt: async (call: CallKey) => {
      asked.push(call)
      return state
    },
    logger: silentLogger,
  })
  const addSpool = (callId: string) =>
    writeFile(
      join(folder, `${callId}.spool`),
      encodeSpoolHeader({
        version: 1,
        codec: 'pcmu',
        organizationId: 'organization' as OrganizationId,
        callId,
        startedAt: '2026-11-20T10:00:00.000Z',
      }),
    )

  it('asks for the owner of every old spool, and keeps the adopted ones', async () => {
    await addSpool('a')
    await addSpool('b')
    await writeFile(join(folder, 'a.spool.mp3'), 'half an MP3')
    await adoptSpools(deps('adopted'), anHourLater())
    assert.deepEqual(asked.map(({ callId }) => callId).toSorted(), ['a', 'b'])
    assert.equal(asked[0]?.organizationId, 'organization')
    assert.equal((await readdir(folder)).length, 3)
  })

  it('does not touch a spool that is being written', async () => {
    await addSpool('a')
    await adoptSpools(deps('adopted'))
    assert.deepEqual(asked, [])
  })

  it('deletes a spool whose recording is settled, and one without a header', async () => {
    await addSpool('a')
    await writeFile(join(folder, 'torn.spool'), 'OUTDI')
    await adoptSpools(deps('done'), anHourLater())
    assert.deepEqual(await readdir(folder), [])
    assert.equal(asked.length, 1)
  })

  it('never deletes the spool of a call that this database does not know', async () => {
    await addSpool('a')
    await adoptSpools(deps('unknown'), anHourLater())
    assert.deepEqual(await readdir(folder), ['a.spool'])
  })

  it('runs at start, and survives an unavailable database', async () => {
    const errors: string[] = []
    const sweeper = createSpoolSweeper({
      ...deps('kept'),
      spoolFolder: join(folder, 'missing'),
      logger: { ...silentLogger, error: (_fields, message) => errors.push(message) },
    })
    await sweeper.start()
    await sweeper.stop()
    assert.deepEqual(errors, ['spools could not be swept'])
  })
})
