import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { checkAgentFile } from '../../domains/agents/agent-definition.ts'
import { sampleContact } from '../../domains/agents/preview-texts.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { createFakeDependencies } from '../../../tests/support/live-call/fake-call.ts'
import { minimalAgentFile } from '../../../tests/support/organization-fixture.ts'
import { createTalks } from './talks.ts'

const organizationId = 'one' as OrganizationId
const request = {
  organizationId,
  agent: checkAgentFile(minimalAgentFile),
  contact: sampleContact,
  mode: 'sandbox',
} as const

const createBench = () => {
  const { media } = createFakeDependencies()
  let nowMs = 0
  const talks = createTalks({
    media: { open: () => media.open('') },
    engineFor: (_agent, mode) =>
      mode === 'live' ? 'There is no voice engine.' : { kind: 'realtime', url: 'ws://127.0.0.1' },
    allowPrivateNetwork: false,
    monotonicMs: () => nowMs,
    logger: silentLogger,
  })
  const begin = () => {
    const ended = Promise.withResolvers<string>()
    const log: unknown[] = []
    const talk = talks.begin(request, {
      onTurn: ({ text }) => log.push(text),
      onWords: (words) => log.push(words?.text),
      onLatency: ({ totalMs }) => log.push(totalMs),
      onSound: (g711) => log.push(g711.length),
      onEnd: ended.resolve,
    })
    return { talk, log, ended: ended.promise }
  }
  return {
    media,
    talks,
    begin,
    advance: (ms: number) => {
      nowMs += ms
    },
  }
}

test('a talk has the engine, the words and the agent’s lane, and ends as the agent hangs up', async () => {
  const { media, begin } = createBench()
  const { talk, log, ended } = begin()
  await media.started
  // The media is known to the talk in the turn after it began.
  await new Promise(setImmediate)
  talk.hear(new Uint8Array(320))
  media.emit({ type: 'words', words: { text: 'Hel…', audioOffsetMs: 0 } })
  media.emit({
    type: 'turn',
    turn: { sequence: 1, speaker: 'agent', text: 'Hello.', audioOffsetMs: 0 },
  })
  media.emit({ type: 'sound', g711: new Uint8Array(1_600) })
  media.emit({ type: 'hang_up', reason: 'duration_cap' })
  assert.equal(await ended, 'The agent hung up: duration cap.')
  assert.deepEqual(log, ['Hel…', 'Hello.', 800])
  assert.deepEqual(media.log, ['prepare', 'start', 'sound true', 'words true', 'hears 320', 'stop'])
})

test('an organization has three talks at one time, and sixty in an hour', async () => {
  const { talks, begin, advance } = createBench()
  const three = [begin(), begin(), begin()]
  assert.match(talks.problemOf(request) ?? '', /3 agents already/)
  assert.match(await begin().ended, /3 agents already/)
  for (const { talk } of three) talk.leave()
  await Promise.all(three.map(({ ended }) => ended))
  for (let count = 3; count < 60; count += 1) {
    const { talk, ended } = begin()
    talk.leave()
    await ended
  }
  assert.match(talks.problemOf(request) ?? '', /60 talks in the last hour/)
  assert.equal(talks.problemOf({ ...request, organizationId: 'two' as OrganizationId }), undefined)
  advance(3_600_000)
  assert.equal(talks.problemOf(request), undefined)
  assert.match(talks.problemOf({ ...request, mode: 'live' }) ?? '', /no voice engine/)
})

test('stopping ends what goes on', async () => {
  const { talks, begin } = createBench()
  const { ended } = begin()
  await talks.stop()
  assert.equal(await ended, 'The talk has ended.')
})
