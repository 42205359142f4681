import assert from 'node:assert/strict'
import { test } from 'node:test'
import { backoffMs } from './backoff.ts'
import { createManualTime } from '../../tests/support/manual-time.ts'
import { derivedId, isUuid, newId, randomBase62 } from './ids.ts'
import { maskPhoneNumber } from './logger.ts'
import { DeadlineError, within } from './within.ts'

test('ids made later sort later', () => {
  const ids = Array.from({ length: 1000 }, newId)
  assert.deepEqual(ids.toSorted(), ids)
  assert.ok(ids.every(isUuid))
})

test('a derived id is a stable UUIDv5', () => {
  const namespace = '0190a8f0-0000-7000-8000-000000000000'
  assert.equal(derivedId(namespace, 'a'), derivedId(namespace, 'a'))
  assert.notEqual(derivedId(namespace, 'a'), derivedId(namespace, 'b'))
  assert.equal(derivedId(namespace, 'a')[14], '5')
})

test('only lower-case hyphenated text is a UUID', () => {
  const id = newId()
  for (const wrong of [id.toUpperCase(), `{${id}}`, id.slice(1), `${id} `, ''])
    assert.equal(isUuid(wrong), false, wrong)
})

test('random text has the asked length and alphabet', () => {
  assert.match(randomBase62(43), /^[0-9A-Za-z]{43}$/)
  assert.notEqual(randomBase62(43), randomBase62(43))
})

test('backoff doubles, keeps its jitter in the upper half and stops at the maximum', () => {
  const bounds = { baseMs: 100, maxMs: 1000 }
  assert.equal(
    backoffMs(1, bounds, () => 0),
    50,
  )
  assert.equal(
    backoffMs(3, bounds, () => 1),
    400,
  )
  assert.equal(
    backoffMs(60, bounds, () => 1),
    1000,
  )
})

test('a masked number can be recognised and not dialled', () => {
  assert.equal(maskPhoneNumber('+12025550100'), '+1202***0100')
  assert.equal(maskPhoneNumber('+123456'), '***')
})

test('manual time moves only by hand, and what falls due runs at its own instant', async () => {
  const time = createManualTime(new Date('2026-03-29T00:59:59Z'))
  const ran: number[] = []
  const note = (): void => void ran.push(time.monotonicMs())
  time.after(1000, note)
  time.after(400, () => {
    note()
    time.after(500, note)
  })
  time.after(1200, note)()
  const { signal } = new AbortController()
  const slept = time.sleep(1500, signal).then(note)
  await time.untilAsleep(1)
  const cut = new AbortController()
  const cutShort = time.sleep(60_000, cut.signal)
  cut.abort()
  await cutShort
  time.advance(1500)
  await slept
  assert.deepEqual(ran, [400, 900, 1000, 1500])
  assert.equal(time.pending(), 0)
  assert.equal(time.now().toISOString(), '2026-03-29T01:00:00.500Z')
})

test('what ends in time keeps its end, and what does not is a deadline missed', async () => {
  assert.equal(await within(60_000, 'late', Promise.resolve(7)), 7)
  await assert.rejects(within(60_000, 'late', Promise.reject(new RangeError('own'))), RangeError)
  const never = new Promise<void>(() => undefined)
  await assert.rejects(within(1, 'It took too long.', never), DeadlineError)
})
