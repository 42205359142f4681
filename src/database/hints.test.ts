import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { silentLogger } from '../runtime/logger.ts'
import { createHintSender, type Hint } from './hints.ts'

const createRecorder = () => {
  const sent: (readonly Hint[])[] = []
  const sender = createHintSender(async (hints) => void sent.push(hints), silentLogger)
  return { sent, sender }
}

test('the first hint is sent at once, a burst after it becomes one more', async () => {
  const { sent, sender } = createRecorder()
  for (let n = 0; n < 100; n++) sender.hint('calls', '')
  assert.equal(sent.length, 1)
  await sleep(60)
  assert.deepEqual(sent.flat(), [
    { channel: 'calls', payload: '' },
    { channel: 'calls', payload: '' },
  ])
  await sender.stop()
})

test('other channels and payloads do not wait for each other', async () => {
  const { sent, sender } = createRecorder()
  sender.hint('calls', 'a')
  sender.hint('calls', 'b')
  sender.hint('batches', 'a')
  await sleep(0)
  assert.deepEqual(sent.flat(), [
    { channel: 'calls', payload: 'a' },
    { channel: 'calls', payload: 'b' },
    { channel: 'batches', payload: 'a' },
  ])
  await sender.stop()
})

test('a failed send and a hint after the end have no effect', async () => {
  const sender = createHintSender(() => Promise.reject(new Error('no database')), silentLogger)
  sender.hint('calls', '')
  await sender.stop()
  sender.hint('calls', '')
})

test('while one send is in progress others gather, and those beyond the limit are dropped', async () => {
  const sent: number[] = []
  const firstSend = Promise.withResolvers<void>()
  const sender = createHintSender(async (hints) => {
    sent.push(hints.length)
    if (sent.length === 1) await firstSend.promise
  }, silentLogger)
  for (let n = 0; n < 5_000; n++) sender.hint('calls', `${n}`)
  assert.deepEqual(sent, [1])
  firstSend.resolve()
  await sleep(0)
  assert.deepEqual(sent, [1, 1_000])
  await sender.stop()
})
