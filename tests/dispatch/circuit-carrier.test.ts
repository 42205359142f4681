import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { endingOfFailure } from '../../src/live-call/call/call-ending.ts'
import { silentLogger } from '../../src/runtime/logger.ts'
import { createDigestServer } from '../../src/sip/digest/digest-server.ts'
import { headerOf } from '../../src/sip/message/message.ts'
import { anySource } from '../../src/sip/gate/sources.ts'
import { createUserAgent } from '../../src/sip/user-agent/user-agent.ts'
import type { IncomingInvite } from '../../src/sip/user-agent/user-agent-types.ts'
import type { DialFailure } from '../../src/telephony/carrier.ts'
import { createSipCarrier } from '../../src/telephony/sip-carrier.ts'
import { parseTrunkUri } from '../../src/telephony/trunk-uri.ts'
import { withCircuit, type Circuit, type TrunkFault } from '../../src/telephony/circuit-carrier.ts'

const startAgent = async (t: TestContext) => {
  const agent = createUserAgent({
    sources: anySource,
    bindAddress: '127.0.0.1',
    timing: { t1Ms: 25, t2Ms: 200, t4Ms: 100 },
  })
  await agent.start()
  t.after(() => agent.stop(50))
  return agent
}

/** A carrier to a trunk, and the reports to its circuit; each dial returns the call's result. */
const openLine = async (t: TestContext, uri: string) => {
  const faults: TrunkFault[] = []
  let down: string | undefined
  let proofs = 0
  const proven = Promise.withResolvers<void>()
  const circuit: Circuit = {
    downReason: () => down,
    report: (fault) => {
      faults.push(fault)
      return Promise.resolve()
    },
    prove: () => {
      proofs += 1
      proven.resolve()
      return Promise.resolve()
    },
  }
  const carrier = withCircuit(
    createSipCarrier({
      userAgent: await startAgent(t),
      trunk: parseTrunkUri(uri),
      logger: silentLogger,
    }),
    circuit,
  )
  const dial = async (): Promise<{ failure: DialFailure; goesOn: string }> => {
    const outcome = await carrier.dial(
      {
        callId: '0198f000-0000-7000-8000-000000000001',
        to: '+12025550100',
        callerId: '+12025550199',
        ringTimeoutMs: 5000,
        localMedia: { address: '127.0.0.1', port: 40_000 },
        mayInvite: () => true,
      },
      new AbortController().signal,
    )
    if (outcome.kind !== 'failed') return assert.fail('the call was answered')
    return {
      failure: outcome.failure,
      goesOn: endingOfFailure(outcome.failure, undefined).kind,
    }
  }
  return {
    faults,
    proofs: () => proofs,
    proven: proven.promise,
    dial,
    open: (reason: string) => {
      down = reason
    },
  }
}

const startTrunk = async (t: TestContext, answer: (invite: IncomingInvite) => void) => {
  const trunk = await startAgent(t)
  trunk.onInvite(answer)
  return trunk.localPort
}

test('D3: a trunk that no INVITE reaches opens the circuit, and the call waits: DNS, TCP, TLS', async (t) => {
  const closed = createServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port: closedPort } = closed.address() as AddressInfo
  closed.close()
  await once(closed, 'close')
  // Accepts the connection without TLS.
  const plain = createServer((socket) => socket.end('SIP/2.0 400 Bad Request\r\n\r\n'))
  plain.listen(0, '127.0.0.1')
  await once(plain, 'listening')
  t.after(() => plain.close())
  const { port: plainPort } = plain.address() as AddressInfo
  for (const uri of [
    'sip:trunk.invalid',
    `sip:127.0.0.1:${closedPort}`,
    `sip:127.0.0.1:${closedPort};transport=tcp`,
    `sip:127.0.0.1:${closedPort};transport=tls`,
    `sip:127.0.0.1:${plainPort};transport=tls`,
  ]) {
    const line = await openLine(t, uri)
    const { failure, goesOn } = await line.dial()
    assert.equal(goesOn, 'trunk_down', `${uri}: ${failure.reason}`)
    assert.equal(failure.invited, false, uri)
    assert.deepEqual(
      line.faults.map(({ cause }) => cause),
      ['unreachable'],
      uri,
    )
  }
})

type Answer = (invite: IncomingInvite, isRight: boolean) => number

/** Challenges, and then responds as `answer` says. */
const startChallengingTrunk = (t: TestContext, status: 401 | 407, answer: Answer) => {
  const server = createDigestServer(
    { username: 'outdial', password: 'right' },
    { realm: 'carrier' },
  )
  return startTrunk(t, (invite) => {
    const proof =
      headerOf(invite.request, 'authorization') ?? headerOf(invite.request, 'proxy-authorization')
    const final = answer(invite, server.verify(proof, invite.request))
    if (proof !== undefined && final !== status) return invite.reject(final, 'As the test says')
    const name = status === 401 ? 'WWW-Authenticate' : 'Proxy-Authenticate'
    invite.reject(status, 'Challenge', { [name]: server.challenge() })
  })
}

test('D3: refused credentials open the circuit, and the call waits: 401 and 407 again and again, 403', async (t) => {
  for (const [challenge, final] of [
    [401, 401],
    [407, 407],
    [407, 403],
    [401, 403],
  ] as const) {
    const port = await startChallengingTrunk(t, challenge, () => final)
    const line = await openLine(t, `sip:outdial:wrong@127.0.0.1:${port}`)
    const { failure, goesOn } = await line.dial()
    const told = `${challenge}, then ${final}`
    assert.deepEqual([failure.cause, failure.sipStatus], ['authentication', final], told)
    assert.equal(goesOn, 'trunk_down', told)
    assert.deepEqual(
      line.faults.map(({ cause }) => cause),
      ['credentials'],
      told,
    )
  }
})

test('a 403 is about the number if no password was asked for, or the trunk has accepted it once', async (t) => {
  const open = await startTrunk(t, (invite) => {
    invite.reject(403, 'Forbidden')
  })
  const unasked = await openLine(t, `sip:outdial:right@127.0.0.1:${open}`)
  assert.equal((await unasked.dial()).goesOn, 'ended')
  assert.deepEqual(unasked.faults, [])

  let final = 486
  const port = await startChallengingTrunk(t, 407, (_, isRight) => (isRight ? final : 407))
  const proven = await openLine(t, `sip:outdial:right@127.0.0.1:${port}`)
  assert.equal((await proven.dial()).failure.cause, 'busy')
  final = 403
  const { failure, goesOn } = await proven.dial()
  assert.deepEqual([failure.cause, goesOn], ['rejected', 'ended'])
  assert.deepEqual(proven.faults, [])
})

test('a ringing phone proves that the trunk works, before anybody answers', async (t) => {
  const invites: IncomingInvite[] = []
  const port = await startTrunk(t, (invite) => {
    invites.push(invite)
    invite.provisional(180, 'Ringing')
  })
  const line = await openLine(t, `sip:127.0.0.1:${port}`)
  const dialled = line.dial()
  await line.proven
  invites[0]?.reject(486, 'Busy Here')
  assert.equal((await dialled).failure.cause, 'busy')
  assert.equal(line.proofs(), 1)
})

test('no INVITE is sent while the circuit is open', async (t) => {
  let invites = 0
  const port = await startTrunk(t, (invite) => {
    invites += 1
    invite.reject(486, 'Busy Here')
  })
  const line = await openLine(t, `sip:127.0.0.1:${port}`)
  line.open('The trunk is away.')
  const { failure, goesOn } = await line.dial()
  assert.deepEqual([goesOn, failure.reason, invites], ['trunk_down', 'The trunk is away.', 0])
})
