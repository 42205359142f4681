import assert from 'node:assert/strict'
import { setImmediate } from 'node:timers/promises'
import { test } from 'node:test'
import { createManualTime } from '../../../tests/support/manual-time.ts'
import { createMemoryNetwork } from '../../../tests/support/sip/memory-network.ts'
import { audioSdp, call } from '../../../tests/support/sip/test-agents.ts'
import type { Dialog } from '../dialog/dialog.ts'
import { createDigestServer } from '../digest/digest-server.ts'
import { anySource } from '../gate/sources.ts'
import { headerOf } from '../message/message.ts'
import { createUserAgent } from './user-agent.ts'
import type { InviteResult } from './user-agent-types.ts'

type Flow = 'caller hangs up' | 'callee hangs up' | 'challenged' | 'cancelled' | 'declined'

interface Course {
  readonly result: InviteResult | undefined
  /** Calls that made the phone ring. */
  readonly rang: number
  /** How each dialog ended; `undefined` while it lives. */
  readonly ends: readonly (string | undefined)[]
  readonly sent: readonly string[]
}

const credentials = { username: 'trunk', password: 's3cret' }
const stepMs = 250
/** Timer B and the longest repetition after it. */
const limitMs = 150_000

/** Plays one call over a network that loses these datagrams, on a clock that is moved by hand. */
const play = async (flow: Flow, lost: ReadonlySet<number>): Promise<Course> => {
  const time = createManualTime()
  const network = createMemoryNetwork((index) => lost.has(index))
  const agentAt = (port: number) =>
    createUserAgent({
      bindAddress: '127.0.0.1',
      sources: anySource,
      time,
      maxUnknownPerSecond: 1000,
      transports: new Map([['udp', network.transportAt(port)]]),
    })
  const [caller, callee] = [agentAt(1), agentAt(2)]
  await Promise.all([caller.start(), callee.start()])
  const ends: (string | undefined)[] = []
  const follow = (dialog: Dialog): void => {
    const at = ends.push(undefined) - 1
    void dialog.ended.then(({ by }) => (ends[at] = by))
  }
  let rang = 0
  const server = createDigestServer(credentials, { realm: 'r' })
  callee.onInvite((incoming) => {
    if (flow === 'challenged' && headerOf(incoming.request, 'proxy-authorization') === undefined)
      return incoming.reject(407, 'Proxy Authentication Required', {
        'Proxy-Authenticate': server.challenge(),
      })
    rang += 1
    incoming.provisional(180, 'Ringing')
    if (flow === 'cancelled') return
    if (flow === 'declined') return incoming.reject(486, 'Busy Here')
    void incoming.accept(audioSdp()).then((dialog) => {
      if (dialog === undefined) return
      follow(dialog)
      if (flow === 'callee hangs up') void dialog.bye()
    })
  })
  const abort = new AbortController()
  let result: InviteResult | undefined
  const target = 'sip:+12025550100@127.0.0.1:2'
  const placed = call(
    caller,
    target,
    {
      credentials,
      ringTimeoutMs: 60_000,
      onProvisional: () => {
        if (flow === 'cancelled') abort.abort()
      },
    },
    abort.signal,
  )
  void placed.then((found) => {
    result = found
    if (found.kind !== 'answered') return
    follow(found.dialog)
    if (flow !== 'callee hangs up') void found.dialog.bye()
  })
  for (let passedMs = 0; passedMs < limitMs; passedMs += stepMs) {
    await setImmediate()
    time.advance(stepMs)
  }
  await setImmediate()
  const stopped = [caller.stop(0), callee.stop(0)]
  await Promise.all(stopped)
  return { result, rang, ends, sent: network.sent }
}

const expected: Readonly<Record<Flow, { kind: InviteResult['kind']; ends: readonly string[] }>> = {
  'caller hangs up': { kind: 'answered', ends: ['local', 'remote'] },
  'callee hangs up': { kind: 'answered', ends: ['local', 'remote'] },
  challenged: { kind: 'answered', ends: ['local', 'remote'] },
  cancelled: { kind: 'cancelled', ends: [] },
  declined: { kind: 'refused', ends: [] },
}

for (const flow of Object.keys(expected) as Flow[])
  test(`whichever packet of a call is lost, or two of them, it ends right: ${flow}`, async () => {
    const { sent } = await play(flow, new Set())
    assert.ok(sent.length >= 4, sent.join('\n'))
    const losses: ReadonlySet<number>[] = [new Set()]
    // The repetitions that a loss causes come after the packets of the undisturbed call.
    for (let one = 0; one < sent.length + 1; one += 1)
      for (let two = one; two < sent.length + 1; two += 1) losses.push(new Set([one, two]))
    for (const lost of losses) {
      const course = await play(flow, lost)
      const story = `${[...lost].join(' and ')} lost of\n${course.sent.join('\n')}`
      const { kind, ends } = expected[flow]
      assert.equal(course.result?.kind, kind, story)
      assert.equal(course.rang, 1, story)
      assert.deepEqual(
        course.ends.map(String).toSorted((a, b) => a.localeCompare(b)),
        ends,
        story,
      )
    }
  })
