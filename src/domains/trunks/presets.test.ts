import assert from 'node:assert/strict'
import { it } from 'node:test'
import { presets } from './presets.ts'
import { trunkInput } from './trunk-settings.ts'

it('every preset is a trunk once it has the address and the user of the customer', () => {
  for (const [name, preset] of Object.entries(presets)) {
    const whole = { uris: ['sip:customer.example'], user: 'acct', ...preset, preset: name }
    assert.equal(trunkInput.safeParse(whole).error, undefined, name)
  }
})
