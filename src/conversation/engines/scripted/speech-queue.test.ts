import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWireAudio, g711Wire } from '../realtime/wire-audio.ts'
import { ScriptedResponse } from './scripted-response.ts'
import { createSpeechQueue, type SpeechQueue } from './speech-queue.ts'

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('sentences that are due first are made first, one in a turn, so that others are served between', async () => {
  const queue = createSpeechQueue()
  const made: string[] = []
  for (const [name, dueMs] of [
    ['late', 30],
    ['begins', Infinity],
    ['begins later', Infinity],
    ['first', 10],
    ['second', 20],
  ] as const)
    queue.add(dueMs, () => made.push(name))
  assert.equal(made.length, 0, 'nobody who adds is blocked')
  const seen: number[] = []
  while (made.length < 5) {
    await turn()
    seen.push(made.length)
  }
  assert.deepEqual(made, ['first', 'second', 'late', 'begins', 'begins later'])
  assert.deepEqual(seen, [...new Set(seen)], 'never two in a turn')
  queue.add(0, () => made.push('again'))
  await turn()
  await turn()
  assert.equal(made.at(-1), 'again')
})

/** A response of sentences of 400 ms; the test decides when each is made. */
const respond = (queue: SpeechQueue, name: string, sentences: number) => {
  const made: string[] = []
  const events: string[] = []
  const speak = function* () {
    for (let count = 1; count <= sentences; count += 1) {
      made.push(`${name} ${count}`)
      yield { text: `${name} ${count}`, g711: new Uint8Array(3_200) }
    }
  }
  const response = new ScriptedResponse({
    id: name,
    newId: () => name,
    reply: { text: name, calls: [] },
    sentences: speak(),
    speech: queue,
    wire: createWireAudio(g711Wire, 'pcmu'),
    send: (event) => events.push((event as { type: string }).type),
    onAudio: () => undefined,
    onCall: () => undefined,
    onDone: () => undefined,
  })
  response.begin()
  return { response, made, events }
}

test('a response that is cancelled while its sentence waits says nothing more', async () => {
  const jobs: (() => void)[] = []
  const { response, made, events } = respond({ add: (_, make) => jobs.push(make) }, 'reply', 2)
  assert.deepEqual(made, [])
  jobs.shift()?.()
  assert.deepEqual(made, ['reply 1'])
  response.cancel()
  for (const job of jobs) job()
  assert.deepEqual(made, ['reply 1'])
  assert.equal(events.at(-1), 'response.done')
})

test('a speaking response is due when its sent audio has been played', () => {
  const dues: number[] = []
  const jobs: (() => void)[] = []
  const queue: SpeechQueue = {
    add: (dueMs, make) => {
      dues.push(dueMs)
      jobs.push(make)
    },
  }
  respond(queue, 'reply', 3)
  jobs.shift()?.()
  jobs.shift()?.()
  const [beforeAny, afterOne = 0, afterTwo = 0] = dues
  assert.equal(beforeAny, Infinity)
  assert.equal(Math.round(afterTwo - afterOne), 400)
})
