import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SipTrace } from '../../domains/calls/sip-trace-store.ts'
import { silentLogger } from '../../runtime/logger.ts'
import type { Clock } from '../../runtime/time.ts'
import { createTraceRecorder } from './trace-recorder.ts'

const clock: Clock = { now: () => new Date(0), monotonicMs: () => 0 }

const message = (text: string) => ({
  direction: 'sent' as const,
  protocol: 'udp' as const,
  local: '192.0.2.1:5060',
  remote: '192.0.2.2:5060',
  text,
})

const record = (save: (trace: SipTrace) => Promise<void>) =>
  createTraceRecorder({ save, clock, logger: silentLogger })

test('what a long call says is kept from its beginning and its end, within 64 KiB', async () => {
  const saved: SipTrace[] = []
  const recorder = record(async (trace) => void saved.push(trace))
  const count = 1_000
  for (let index = 0; index < count; index += 1)
    recorder.add(message(`${index}:`.padEnd(1_000, 'x')))
  await recorder.close()
  const [trace] = saved
  assert.ok(trace)
  const texts = [...trace.first, ...trace.last].map(({ text }) => text)
  assert.ok(texts.join('').length <= 65_536)
  assert.equal(texts.length + trace.omitted, count)
  assert.ok(texts[0]?.startsWith('0:'))
  assert.ok(texts.at(-1)?.startsWith('999:'))
})

test('nothing new is not stored again, and a store that fails harms nothing', async () => {
  let saves = 0
  const recorder = record(async () => {
    saves += 1
    throw new Error('the database is away')
  })
  await recorder.save()
  assert.equal(saves, 0)
  recorder.add(message('INVITE'))
  await recorder.save()
  await recorder.close()
  assert.equal(saves, 1)
  assert.ok(recorder.until.aborted)
})
