import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { createLiveRegistry } from './live-registry.ts'

const one = 'one' as OrganizationId
const other = 'other' as OrganizationId

const mediaOf = () => {
  const told: boolean[] = []
  const passed: boolean[] = []
  return {
    told,
    passed,
    reportWords: (isOn: boolean) => void told.push(isOn),
    passSound: (isOn: boolean) => void passed.push(isOn),
  }
}

test('words are reported while somebody of the organization reads them, and not otherwise', () => {
  const registry = createLiveRegistry()
  const [early, foreign, late] = [mediaOf(), mediaOf(), mediaOf()]
  registry.enter({ organizationId: one, callId: 'early' }, early)
  registry.enter({ organizationId: other, callId: 'foreign' }, foreign)
  const leaveFirst = registry.followWords(one, () => undefined)
  const leaveSecond = registry.followWords(one, () => undefined)
  registry.enter({ organizationId: one, callId: 'late' }, late)
  leaveFirst()
  assert.deepEqual([early.told, foreign.told, late.told], [[true], [], [true]])
  leaveSecond()
  leaveSecond()
  assert.deepEqual([early.told, foreign.told, late.told], [[true, false], [], [true, false]])
})

test('those who follow an organization hear its calls only, until they leave', () => {
  const registry = createLiveRegistry()
  const heard: unknown[] = []
  const leave = registry.followWords(one, (words) => heard.push(words))
  const own = registry.enter({ organizationId: one, callId: 'own' }, mediaOf())
  const foreign = registry.enter({ organizationId: other, callId: 'foreign' }, mediaOf())
  const turn = { sequence: 1, speaker: 'agent', text: 'Hello', audioOffsetMs: 0 } as const
  foreign.said(turn)
  own.speaks({ text: 'Hel…', audioOffsetMs: 0 })
  own.said(turn)
  own.speaks(undefined)
  leave()
  own.said(turn)
  assert.deepEqual(heard, [
    { callId: 'own', speaking: { text: 'Hel…', audioOffsetMs: 0 } },
    { callId: 'own', turn },
    { callId: 'own', speaking: null },
  ])
})

test('a call is here while it lasts, for its own organization', () => {
  const registry = createLiveRegistry()
  const call = { organizationId: one, callId: 'call' }
  const first = registry.enter(call, mediaOf())
  // Claimed again before its first attempt has let go of everything.
  const second = registry.enter(call, mediaOf())
  first.leave()
  assert.ok(registry.isHere(call))
  assert.ok(!registry.isHere({ ...call, organizationId: other }))
  second.leave()
  assert.ok(!registry.isHere(call))
})

test('sound is passed on while somebody listens, to a bounded number, and ends with the call', () => {
  const registry = createLiveRegistry()
  const media = mediaOf()
  const call = { organizationId: one, callId: 'call' }
  const entry = registry.enter(call, media)
  const ear = (log: string[]) => ({
    hear: (g711: Uint8Array) => void log.push(String(g711[0])),
    end: () => void log.push('end'),
  })
  const logs: string[][] = Array.from({ length: 6 }, () => [])
  const stops = logs.map((log) => registry.listen(call, ear(log)))
  assert.deepEqual(
    stops.map((stop) => typeof stop),
    [...Array<string>(5).fill('function'), 'string'],
  )
  assert.equal(stops[5], 'too_many')
  assert.equal(registry.listen({ ...call, organizationId: other }, ear([])), 'not_here')
  entry.sounds(new Uint8Array([7]))
  const [stop] = stops
  if (typeof stop === 'function') {
    stop()
    stop()
  }
  entry.sounds(new Uint8Array([8]))
  assert.deepEqual(media.passed, [true])
  entry.leave()
  assert.deepEqual([logs[0], logs[1], logs[5]], [['7'], ['7', '8', 'end'], []])
  assert.equal(registry.listen(call, ear([])), 'not_here')
})
