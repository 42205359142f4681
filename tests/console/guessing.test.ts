import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import { randomBase62 } from '../../src/runtime/ids.ts'
import {
  consoleOrigin,
  consolePassword,
  startComposedConsole,
  type ConsoleAnswer,
} from '../support/composed-console.ts'

let app: Awaited<ReturnType<typeof startComposedConsole>>
let organizationId: OrganizationId
before(async () => {
  app = await startComposedConsole()
  organizationId = (await app.createOrganization('Guessed')).id
})
after(() => app.stop())

/** More than an address may try of anything. */
const manyTries = 200

/** Tries until the service refuses to be tried; returns how many tries there were, and the refusal. */
const triesUntilRefused = async (
  guess: (index: number) => Promise<ConsoleAnswer>,
  wrong: number,
): Promise<{ readonly tries: number; readonly refusal: ConsoleAnswer }> => {
  for (let tries = 0; tries < manyTries; tries += 1) {
    const answer = await guess(tries)
    if (answer.status === 429) return { tries, refusal: answer }
    assert.equal(answer.status, wrong, JSON.stringify(answer.body))
  }
  return assert.fail(`${manyTries} guesses were taken.`)
}

const waits = ({ headers, code }: ConsoleAnswer): void => {
  assert.equal(code, 'rate_limit_exceeded')
  assert.ok(Number(headers.get('retry-after')) > 0)
}

const secretLength = 43

test('secrets of setup links and invitations can be guessed 120 times a minute from one address', async () => {
  const paths = [
    ['/console/setup', { organization: 'Mine', name: 'M', email: 'm@evil.test' }, 404],
    ['/console/setup/check', {}, 200],
    ['/console/invitations/check', {}, 404],
    ['/console/invitations/accept', { name: 'M' }, 404],
  ] as const
  for (const [index, [path, members, wrong]] of paths.entries()) {
    const browser = app.browse(`203.0.113.${index + 1}`)
    const password = 'a password of mine'
    const { tries, refusal } = await triesUntilRefused((each) => {
      const secret = randomBase62(secretLength - (each % 2))
      const isWhole = path === '/console/setup' || path.endsWith('accept')
      return browser.send('POST', path, { secret, ...members, ...(isWhole && { password }) })
    }, wrong)
    assert.ok(tries <= 120, `${path}: ${tries}`)
    waits(refusal)
    // Another address is not held up by it.
    const other = app.browse(`203.0.113.${index + 101}`)
    assert.notEqual((await other.send('POST', path, { secret: 'x' })).status, 429)
  }
})

test('an invitation of a known account does not open its password to guesses', async () => {
  const { id } = await app.createOrganization('Home of the victim')
  await app.signInAs(id, 'owner', 'victim@example.test')
  const { browser } = await app.signInAs(organizationId, 'owner', 'inviting@example.test')
  const made = await browser.send('POST', '/console/invitations', {
    email: 'victim@example.test',
    role: 'viewer',
  })
  const secret = String(made.body['link']).slice(`${consoleOrigin}/invite/`.length)
  assert.ok(secret.length >= secretLength)
  const from = app.browse('203.0.113.50')
  const { tries, refusal } = await triesUntilRefused(
    (each) =>
      from.send('POST', '/console/invitations/accept', { secret, password: `wrong guess ${each}` }),
    401,
  )
  assert.equal(tries, 10)
  waits(refusal)
  const right = { secret, password: consolePassword }
  assert.equal((await from.send('POST', '/console/invitations/accept', right)).status, 429)
})

test('a session that was left open gives ten guesses at its password, over all that asks for it', async () => {
  const { browser } = await app.signInAs(organizationId, 'admin', 'left@example.test')
  const asks = [
    (guess: string) =>
      browser.send('POST', '/console/account/password', { current: guess, password: 'mine now!' }),
    (guess: string) => browser.send('POST', '/console/account/two-factor', { password: guess }),
    (guess: string) => browser.send('POST', '/console/account/two-factor/end', { password: guess }),
  ]
  const { tries, refusal } = await triesUntilRefused(
    (each) => (asks[each % asks.length] ?? assert.fail())(`guess ${each}`),
    400,
  )
  assert.equal(tries, 10)
  waits(refusal)
})
