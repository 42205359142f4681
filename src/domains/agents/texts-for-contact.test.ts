import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { minimalAgentFile } from '../../../tests/support/organization-fixture.ts'
import { checkAgentFile } from './agent-definition.ts'
import { instructionsOf, textsForContact } from './texts-for-contact.ts'

const agent = checkAgentFile(minimalAgentFile)
const now = new Date('2026-11-23T22:30:00Z')
const told = (number: string): string =>
  instructionsOf(agent, textsForContact(agent, { phone_number: number }, now))

describe('the instructions of a model', () => {
  it('say what day and time it is where the person is', () => {
    assert.match(
      told('+4930123456'),
      /It is now Monday,? 23 November 2026 at 23:30 where the person is \(Europe\/Berlin\)\.$/,
    )
    assert.match(told('+81312345678'), /Tuesday,? 24 November 2026 at 07:30 .*\(Asia\/Tokyo\)/)
  })

  it('say it in UTC where the number has no place', () => {
    assert.match(told('+18005550100'), /23 November 2026 at 22:30 in UTC\.$/)
  })
})
