import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GatewayHearing } from './gateway-hearing.ts'

const openHearing = () => {
  const clock = { ms: 1_000 }
  const hearing = new GatewayHearing(() => clock.ms)
  const sendInvite = () => {
    const sent = hearing.expect()
    sent.leaves()
    return sent
  }
  return { clock, hearing, sendInvite }
}

describe('whether the next INVITE might be lost', () => {
  it('is never asked of a gateway that did not respond to OPTIONS yet', () => {
    const { clock, hearing, sendInvite } = openHearing()
    sendInvite()
    clock.ms += 60_000
    assert.equal(hearing.isDoubtful(), false)
  })

  it('is asked once an INVITE had no response for half a second', () => {
    const { clock, hearing, sendInvite } = openHearing()
    hearing.answered()
    clock.ms += 100
    const sent = sendInvite()
    clock.ms += 500
    assert.equal(hearing.isDoubtful(), false)
    clock.ms += 1
    assert.equal(hearing.isDoubtful(), true)
    sent.heard()
    assert.equal(hearing.isDoubtful(), false)
  })

  it('is not asked where the gateway responded to a later INVITE', () => {
    const { clock, hearing, sendInvite } = openHearing()
    hearing.answered()
    clock.ms += 1
    sendInvite()
    clock.ms += 1
    sendInvite().heard()
    clock.ms += 1_000
    assert.equal(hearing.isDoubtful(), false)
  })

  it('is asked after five seconds without any call', () => {
    const { clock, hearing, sendInvite } = openHearing()
    hearing.answered()
    sendInvite().forget()
    clock.ms += 5_000
    assert.equal(hearing.isDoubtful(), false)
    clock.ms += 1
    assert.equal(hearing.isDoubtful(), true)
  })

  it('is asked by one question for all calls that wait', async () => {
    const { hearing } = openHearing()
    let questions = 0
    const answer = Promise.withResolvers<boolean>()
    const question = () => {
      questions += 1
      return answer.promise
    }
    const asked = [hearing.ask(question), hearing.ask(question)]
    answer.resolve(false)
    assert.deepEqual(await Promise.all(asked), [false, false])
    assert.equal(questions, 1)
  })
})
