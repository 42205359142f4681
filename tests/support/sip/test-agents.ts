import type { TestContext } from 'node:test'
import { openScriptedPeer, type ScriptedPeer } from './scripted-peer.ts'
import { createMediaNegotiator } from '../../../src/sdp/sdp.ts'
import { anySource } from '../../../src/sip/gate/sources.ts'
import { createUserAgent, type UserAgentOptions } from '../../../src/sip/user-agent/user-agent.ts'
import type {
  InviteOptions,
  InviteResult,
  UserAgent,
} from '../../../src/sip/user-agent/user-agent-types.ts'

/** Timers fast enough for tests on loopback, in the proportions of RFC 3261. */
export const fastTiming = { t1Ms: 25, t2Ms: 200, t4Ms: 100 }

/** A started user agent on loopback that stops with the test. */
export const startAgent = async (
  context: TestContext,
  options: Partial<UserAgentOptions> = {},
): Promise<UserAgent> => {
  const agent = createUserAgent({
    bindAddress: '127.0.0.1',
    sources: anySource,
    timing: fastTiming,
    maxUnknownPerSecond: 1000,
    ...options,
  })
  await agent.start()
  context.after(() => agent.stop(50))
  return agent
}

export const startPeer = async (context: TestContext): Promise<ScriptedPeer> => {
  const peer = await openScriptedPeer()
  context.after(() => peer.close())
  return peer
}

export const localAudio = { address: '127.0.0.1', port: 40_000 }

/** An SDP offer with G.711. */
export const audioSdp = (direction?: 'sendonly' | 'sendrecv'): string =>
  createMediaNegotiator({ local: localAudio }).offer(direction)

/** Places a call with the usual options. */
export const call = (
  agent: UserAgent,
  target: string,
  options: Partial<InviteOptions> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<InviteResult> =>
  agent.invite(
    {
      target,
      from: 'sip:+12025550199@example.com',
      offer: audioSdp(),
      ringTimeoutMs: 10_000,
      ...options,
    },
    signal,
  )

export const targetOf = (agent: UserAgent, transport = ''): string =>
  `sip:+12025550100@127.0.0.1:${agent.localPort}${transport}`
