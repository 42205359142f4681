import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { describeDestinationProblem, destinationProblem } from './phone-destination.ts'

const us = { allowedCountries: ['US'] }
const all = { allowedCountries: 'all' } as const

describe('a destination of an organization that enabled the United States', () => {
  const verdicts: readonly [string, string | undefined, string][] = [
    ['+12025550100', undefined, 'a fictional number of Washington'],
    ['+14155552671', undefined, 'San Francisco'],
    ['+18005551234', undefined, 'toll-free'],
    ['+15551234567', undefined, 'the area code nobody has'],
    ['+18762345678', 'country_not_enabled', 'Jamaica, which shares calling code 1'],
    ['+18095551234', 'country_not_enabled', 'the Dominican Republic'],
    ['+16135550123', 'country_not_enabled', 'Canada'],
    ['+16847331234', 'country_not_enabled', 'American Samoa'],
    ['+442079460018', 'country_not_enabled', 'London'],
    ['+447700900123', 'country_not_enabled', 'a fictional British mobile'],
    ['+11235550100', 'country_unknown', 'an area code that is not assigned'],
  ]
  for (const [number, problem, what] of verdicts) {
    it(`${problem ?? 'allowed'}: ${what} (${number})`, () => {
      assert.equal(destinationProblem(number, us), problem)
    })
  }
})

describe('a destination of an organization that enabled every country', () => {
  const verdicts: readonly [string, string | undefined, string][] = [
    ['+442079460018', undefined, 'London'],
    ['+447700900123', undefined, 'a fictional British mobile'],
    ['+4915112345678', undefined, 'a German mobile'],
    ['+4991112345678', undefined, 'Nuremberg, whose area code is 911'],
    ['+18762345678', undefined, 'Jamaica'],
    ['+18005551234', undefined, 'toll-free in North America'],
    ['+19005551234', 'premium_rate', 'area code 900'],
    ['+12029765551', 'premium_rate', 'exchange 976'],
    ['+449098790000', 'premium_rate', 'British 0909'],
    ['+44909879000', 'premium_rate', 'British 0909, of a length that is not assigned'],
    ['+448712345678', 'premium_rate', 'British 0871'],
    ['+41900123456', 'premium_rate', 'Swiss 0900'],
    ['+33892123456', 'premium_rate', 'French 0892'],
    ['+97912345678', 'premium_rate', 'international premium rate'],
    ['+491805123456', 'shared_cost', 'German 0180'],
    ['+34902123456', 'shared_cost', 'Spanish 902'],
    ['+15005550006', 'personal_number', 'area code 500'],
    ['+447012345678', 'personal_number', 'British 070'],
    ['+3581001234', 'corporate_number', 'a Finnish universal access number'],
    ['+881612345678', 'satellite', 'Iridium, which libphonenumber calls a mobile'],
    ['+870773112345', 'satellite', 'Inmarsat'],
    ['+88213123456', 'satellite', 'Global Networks'],
    ['+8835100012345', 'satellite', 'the 883-5 range'],
    ['+80012345678', 'non_geographic', 'universal freephone'],
    ['+80812345678', 'non_geographic', 'universal shared cost'],
    ['+87812345678', 'non_geographic', 'universal personal'],
    ['+88812345678', 'non_geographic', 'disaster relief'],
    ['+19115551234', 'emergency', 'area code 911'],
    ['+14115551234', 'emergency', 'area code 411'],
    ['+12029110000', 'emergency', 'exchange 911'],
    ['+4499912345', 'emergency', 'British 999'],
    ['+82601234567', 'premium_rate', 'Korean 060'],
    ['+8260123456', 'premium_rate', 'Korean 060, of a length that is not assigned'],
    ['+559001234567', 'premium_rate', 'Brazilian 0900'],
    ['+97190012345', 'premium_rate', 'Emirati 0900'],
    ['+9721900123456', 'premium_rate', 'Israeli 1900'],
    ['+60600123456', 'premium_rate', 'Malaysian 600'],
    ['+209001234567', 'premium_rate', 'Egyptian 0900'],
    ['+9609001234', 'premium_rate', 'Maldivian 900'],
    ['+3270123456', 'premium_rate', 'Belgian 070'],
    ['+4911812345', 'premium_rate', 'German directory enquiries'],
    ['+18769761234', 'premium_rate', 'exchange 976 in Jamaica'],
    ['+13459761234', 'premium_rate', 'exchange 976 in the Cayman Islands'],
    ['+16002345678', 'satellite', 'Canadian area code 600'],
    ['+1202555010', 'not_possible', 'a digit too few'],
    ['+120255501000', 'not_possible', 'a digit too many'],
    ['+112025550100', 'not_possible', 'a trunk prefix after the calling code'],
    ['+99912345678', 'not_possible', 'a calling code that does not exist'],
    ['+10000000', 'not_possible', 'a short number'],
  ]
  for (const [number, problem, what] of verdicts) {
    it(`${problem ?? 'allowed'}: ${what} (${number})`, () => {
      assert.equal(destinationProblem(number, all), problem)
    })
  }
})

it('the table of special ranges matches the metadata', () => {
  const script = join(import.meta.dirname, '../../../scripts/generate-special-ranges.mjs')
  const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
})

describe('a destination problem', () => {
  it('is a sentence without the number', () => {
    assert.match(describeDestinationProblem('satellite'), /^[A-Z][^+\d]*\.$/)
  })
})
