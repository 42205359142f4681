import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  createFakeDependencies,
  createFakeLeg,
  fakeCall,
  fakePlan,
} from '../../../tests/support/live-call/fake-call.ts'
import { createRunCall } from './run-call.ts'

const startAnswered = async (transferTo: string | undefined) => {
  const plan = { ...fakePlan, ...(transferTo !== undefined && { transferTo }) }
  const deps = createFakeDependencies({ loadPlan: async () => ({ plan }) })
  const leg = createFakeLeg()
  const done = createRunCall(deps)(fakeCall(), new AbortController().signal)
  await deps.carrier.dialed
  deps.carrier.answer(leg)
  await deps.media.started
  /** What the worker was told, once all that is settled has been worked off. */
  const told = async (): Promise<string[]> => {
    await new Promise((resolve) => setImmediate(resolve))
    return deps.media.log.filter((entry) => entry.startsWith('transfer'))
  }
  const ending = async () => {
    await done
    return deps.ledger.finished[0]?.ending
  }
  return { ...deps, leg, told, ending }
}

describe('a call whose agent transfers it', () => {
  it('is hung up by us when somebody else has taken it', async () => {
    const { media, leg, told, ending } = await startAnswered('+12025550177')
    media.emit({ type: 'transfer' })
    assert.deepEqual(leg.transfers, ['+12025550177'])
    leg.settleTransfer({ kind: 'transferred' })
    assert.deepEqual(await told(), ['transfer {"transferred":true}'])
    media.emit({ type: 'hang_up', reason: 'transferred' })
    const { answerStatus, outcome } = (await ending()) ?? {}
    assert.deepEqual([answerStatus, outcome], ['answered', 'transferred'])
    assert.equal(leg.hangUps, 1)
  })

  it('has been transferred, too, where the carrier takes the callee away', async () => {
    const { media, leg, ending } = await startAnswered('+12025550177')
    media.emit({ type: 'transfer' })
    leg.end({ by: 'callee' })
    leg.settleTransfer({ kind: 'transferred' })
    assert.equal((await ending())?.outcome, 'transferred')
  })

  it('goes on when nobody takes it', async () => {
    const { media, leg, told, ending } = await startAnswered('+12025550177')
    media.emit({ type: 'transfer' })
    leg.settleTransfer({ kind: 'refused', sipStatus: 486, reason: 'SIP 486 Busy Here' })
    assert.deepEqual(await told(), ['transfer {"transferred":false,"reason":"SIP 486 Busy Here"}'])
    assert.equal(leg.hangUps, 0)
    leg.end({ by: 'callee' })
    assert.equal((await ending())?.outcome, undefined)
  })

  it('reaches nobody whom its plan does not name', async () => {
    const { media, leg, told, ending } = await startAnswered(undefined)
    media.emit({ type: 'transfer' })
    assert.deepEqual(await told(), [
      'transfer {"transferred":false,"reason":"Nobody is named to transfer to."}',
    ])
    assert.deepEqual(leg.transfers, [])
    leg.end({ by: 'callee' })
    await ending()
  })
})

describe('a call that nobody answered but an apparatus', () => {
  it('is not reached, and its end is no failure', async () => {
    const { media, ending } = await startAnswered(undefined)
    media.emit({ type: 'nobody', kind: 'fax' })
    media.emit({ type: 'hang_up', reason: 'nobody_there' })
    const { status, answerStatus, outcome } = (await ending()) ?? {}
    assert.deepEqual([status, answerStatus, outcome], ['completed', 'unknown', 'not_reached'])
  })
})
