import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import { removeMember } from '../../src/identity/member-store.ts'
import { startComposedConsole, type Browser } from '../support/composed-console.ts'
import { createOrganizationFixture } from '../support/organization-fixture.ts'

let app: Awaited<ReturnType<typeof startComposedConsole>>
let organizationId: OrganizationId
let placeCall: (phoneNumber: string) => Promise<string>

before(async () => {
  app = await startComposedConsole()
  const fixture = await createOrganizationFixture(app.db)
  organizationId = fixture.organizationId
  placeCall = (phoneNumber) => fixture.placeCall(phoneNumber)
})
after(() => app.stop())

interface Received {
  readonly id: string
  readonly event: string
  readonly data: { readonly kind?: string; readonly id?: string }
}

/** The stream of a browser: its events one by one, and undefined once the server ended it. */
const follow = async (browser: Browser, lastEventId?: string) => {
  const stopping = new AbortController()
  const response = await fetch(`${app.url}/console/events`, {
    headers: {
      ...(browser.cookie !== undefined && { cookie: browser.cookie }),
      ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
    },
    signal: stopping.signal,
  })
  const events = response.body ? eventsOf(response.body) : undefined
  return {
    response,
    next: async (): Promise<Received | undefined> => (await events?.next())?.value ?? undefined,
    stop: () => stopping.abort(),
  }
}

async function* eventsOf(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<Received, undefined, undefined> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const found = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(block)
      if (found)
        yield {
          id: found[1] ?? '',
          event: found[2] ?? '',
          data: JSON.parse(found[3] ?? '') as Received['data'],
        }
    }
  }
  return undefined
}

type Stream = Awaited<ReturnType<typeof follow>>

/** The first event about something; fails if the stream ends before. */
const about = async (stream: Stream, target: string): Promise<Received> => {
  for (;;) {
    const event = await stream.next()
    assert.ok(event, 'the stream ended')
    if (event.data.id === target) return event
  }
}

/** Waits until the server knows what was there before. */
const settled = async (stream: Stream): Promise<void> => {
  const event = await stream.next()
  assert.ok(event?.event === 'reset' || event?.event === 'position', JSON.stringify(event))
}

test('a browser is told of a change, and after a break of what it missed', async () => {
  const { browser } = await app.signInAs(organizationId, 'viewer', 'viewer@events.test')
  const stream = await follow(browser)
  assert.equal(stream.response.status, 200)
  assert.match(stream.response.headers.get('content-type') ?? '', /^text\/event-stream/)
  assert.match(stream.response.headers.get('content-security-policy') ?? '', /default-src 'none'/)
  await settled(stream)
  const first = await placeCall('+12025550181')
  const told = await about(stream, first)
  assert.deepEqual([told.event, told.data], ['change', { kind: 'call', id: first }])
  stream.stop()

  const witness = await follow(browser)
  const second = await placeCall('+12025550182')
  await about(witness, second)
  witness.stop()
  const back = await follow(browser, told.id)
  assert.deepEqual((await about(back, second)).data, { kind: 'call', id: second })
  back.stop()
  const unknown = await follow(browser, 'earlier-7')
  assert.equal((await unknown.next())?.event, 'reset')
  unknown.stop()
})

test('another organization hears nothing of it', async () => {
  const other = await createOrganizationFixture(app.db)
  const { browser } = await app.signInAs(other.organizationId, 'owner', 'other@events.test')
  const stream = await follow(browser)
  await settled(stream)
  await placeCall('+12025550183')
  const own = await other.placeCall('+12025550184')
  // Whatever came before it would be told before it.
  const next = await stream.next()
  assert.deepEqual(next?.data, { kind: 'call', id: own })
  stream.stop()
})

test('a stream ends with its session and with its membership', async () => {
  const endings: readonly ((accountId: string, browser: Browser) => Promise<unknown>)[] = [
    async (_, browser) => browser.send('DELETE', '/console/session'),
    async (accountId) => removeMember(app.db, organizationId, accountId),
  ]
  for (const [index, end] of endings.entries()) {
    const email = `ending-${index}@events.test`
    const { browser, accountId } = await app.signInAs(organizationId, 'operator', email)
    const stream = await follow(browser)
    await settled(stream)
    await end(accountId, browser)
    let event = await stream.next()
    while (event) event = await stream.next()
    assert.equal((await follow(browser)).response.status, 401)
  }
})

test('strangers and tabs beyond the bound get no stream', async () => {
  const stranger = await follow(app.browse())
  assert.equal(stranger.response.status, 401)
  const { browser } = await app.signInAs(organizationId, 'operator', 'tabs@events.test')
  const streams = await Promise.all([1, 2, 3, 4].map(() => follow(browser)))
  assert.deepEqual(
    streams.map(({ response }) => response.status),
    [200, 200, 200, 200],
  )
  const fifth = await follow(browser)
  assert.equal(fifth.response.status, 429)
  assert.ok(Number(fifth.response.headers.get('retry-after')) > 0)
  for (const stream of streams) stream.stop()
})
