import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createChanges } from '../../src/console/live/changes.ts'
import type { OrganizationId } from '../../src/contract/organization-id.ts'
import { sql } from '../../src/database/database.ts'
import { appendTurn } from '../../src/domains/results/transcript-store.ts'
import { removeMember } from '../../src/identity/member-store.ts'
import { newId } from '../../src/runtime/ids.ts'
import { startComposedConsole, type Browser } from '../support/composed-console.ts'
import { createOrganizationFixture } from '../support/organization-fixture.ts'

let app: Awaited<ReturnType<typeof startComposedConsole>>
let organizationId: OrganizationId
let placeCall: (phoneNumber: string) => Promise<string>

/** A call that a node of these tests holds: its row says so. */
const liveCall = async (phoneNumber: string): Promise<string> => {
  const id = await placeCall(phoneNumber)
  await app.db.run(
    sql(
      'events-test.hold',
      `update calls
          set status = 'in_progress', dialing_at = now(), connected_at = now(), lease_token = gen_random_uuid()
        where organization_id = $1 and id = $2`,
    ),
    [organizationId, id],
  )
  return id
}

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
  readonly data: {
    readonly kind?: string
    readonly id?: string
    readonly only?: string
    readonly calls?: readonly CallWords[]
  }
}

interface CallWords {
  readonly id: string
  readonly turns: readonly { readonly sequence: number; readonly text: string }[]
  readonly speaking?: { readonly text: string } | null
}

/** The stream of a browser: its events one by one, and undefined once the server ended it. */
const follow = async (browser: Browser, lastEventId?: string, query = '') => {
  const stopping = new AbortController()
  const response = await fetch(`${app.url}/console/events${query}`, {
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
      const found = /^(?:id: (.*)\n)?event: (.*)\ndata: (.*)$/.exec(block)
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

test('a window that shows another organization than its session gets no stream', async () => {
  const { browser } = await app.signInAs(organizationId, 'viewer', 'window@events.test')
  const same = await follow(browser, undefined, `?organization=${organizationId}`)
  assert.equal(same.response.status, 200)
  same.stop()
  const { organizationId: before } = await createOrganizationFixture(app.db)
  const { response } = await follow(browser, undefined, `?organization=${before}`)
  const { error } = (await response.json()) as { error: { code: string } }
  assert.deepEqual([response.status, error.code], [409, 'organization_changed'])
})

test('an old call is followed once a page shows it', async () => {
  const fixture = await createOrganizationFixture(app.db)
  const { browser } = await app.signInAs(fixture.organizationId, 'operator', 'old@events.test')
  const old = await fixture.placeCall('+12025550185')
  // A first page of queued calls has 20.
  for (let number = 0; number < 21; number += 1) await fixture.placeCall(`+120255502${10 + number}`)
  const stream = await follow(browser)
  await settled(stream)
  assert.equal((await browser.send('GET', `/console/calls/${old}`)).status, 200)
  // What was read may have changed before the next look.
  assert.deepEqual((await about(stream, old)).data, { kind: 'call', id: old })
  const { status } = await browser.send('POST', `/console/calls/${old}/cancel`, {})
  assert.equal(status, 200)
  assert.deepEqual((await about(stream, old)).data, { kind: 'call', id: old })
  stream.stop()
})

test('what is watched for pages is bounded, and what lapses has not gone', async () => {
  const fixture = await createOrganizationFixture(app.db)
  const changes = createChanges(fixture.organizationId)
  const old = await fixture.placeCall('+12025550186')
  for (let number = 0; number < 21; number += 1) await fixture.placeCall(`+120255502${40 + number}`)
  await changes.look(app.db, 0)
  changes.show('call', old, 0)
  assert.deepEqual(
    (await changes.look(app.db, 1)).map(({ target }) => target),
    [old],
  )
  assert.deepEqual(await changes.look(app.db, 2), [])
  for (let other = 0; other < 200; other += 1) changes.show('call', newId(), 3)
  assert.deepEqual(await changes.look(app.db, 4), [])
  changes.show('call', old, 5)
  assert.equal((await changes.look(app.db, 6)).length, 1)
  // Long after, nobody shows it any more.
  assert.deepEqual(await changes.look(app.db, 10_000_000), [])
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

/** The first words of a call that fit; fails if the stream ends before. */
const words = async (
  stream: Stream,
  callId: string,
  isWanted: (words: CallWords) => boolean,
): Promise<CallWords> => {
  for (;;) {
    const event = await stream.next()
    assert.ok(event, 'the stream ended')
    const found = event.data.calls?.find((each) => each.id === callId && isWanted(each))
    if (found) return found
  }
}

const media = { reportWords: () => undefined, passSound: () => undefined }

const turnOf = (sequence: number, text: string) => ({
  sequence,
  speaker: 'contact' as const,
  text,
  audioOffsetMs: sequence * 1000,
})

test('the words of live calls come to those who watch them, as they are spoken and as they are stored', async () => {
  const operator = await app.signInAs(organizationId, 'operator', 'operator@words.test')
  const viewer = await app.signInAs(organizationId, 'viewer', 'viewer@words.test')
  const [watched, unwatched] = [await liveCall('+12025550191'), await liveCall('+12025550192')]
  const entry = app.live.enter({ organizationId, callId: watched }, media)
  const everything = await follow(operator.browser, undefined, '?words=all')
  const one = await follow(operator.browser, undefined, `?words=${unwatched}`)
  const masked = await follow(viewer.browser, undefined, '?words=all')
  for (const stream of [everything, one, masked]) await settled(stream)

  entry.speaks({ text: 'Hello, this…', audioOffsetMs: 100 })
  const spoken = await words(everything, watched, ({ speaking }) => speaking != null)
  assert.equal(spoken.speaking?.text, 'Hello, this…')
  assert.equal((await words(masked, watched, () => true)).speaking?.text, '•••')
  entry.said(turnOf(1, 'Hello, this is a test.'))
  entry.speaks(undefined)
  const said = await words(everything, watched, ({ turns }) => turns.length > 0)
  assert.deepEqual(
    said.turns.map(({ sequence, text }) => [sequence, text]),
    [[1, 'Hello, this is a test.']],
  )

  // Of another node: nothing but the database tells it.
  await appendTurn(app.db, { organizationId, callId: unwatched }, turnOf(1, 'From elsewhere'))
  const stored = await words(one, unwatched, ({ turns }) => turns.length > 0)
  assert.equal(stored.turns[0]?.text, 'From elsewhere')
  await appendTurn(app.db, { organizationId, callId: unwatched }, turnOf(2, 'And more'))
  const more = await words(one, unwatched, ({ turns }) =>
    turns.some(({ sequence }) => sequence === 2),
  )
  assert.deepEqual(
    more.turns.map(({ sequence }) => sequence),
    [2],
  )
  for (const stream of [everything, one, masked]) stream.stop()
})

test('who watches no words is told no more than that there are some', async () => {
  const { browser } = await app.signInAs(organizationId, 'operator', 'silent@words.test')
  const call = await liveCall('+12025550193')
  const stream = await follow(browser)
  await settled(stream)
  let told: Received | undefined
  // The first may be told together with the state that the call came to before it.
  for (let sequence = 1; told?.data.only === undefined; sequence += 1) {
    await appendTurn(app.db, { organizationId, callId: call }, turnOf(sequence, 'A secret word'))
    told = await about(stream, call)
  }
  assert.deepEqual(told.data, { kind: 'call', id: call, only: 'words' })
  const placed = await placeCall('+12025550194')
  for (let event = await stream.next(); event?.data.id !== placed; event = await stream.next())
    assert.equal(event?.event, 'change')
  stream.stop()
})

test('words of another organization, and of what is no call, are not told', async () => {
  const other = await createOrganizationFixture(app.db)
  const { browser } = await app.signInAs(other.organizationId, 'owner', 'stranger@words.test')
  const call = await liveCall('+12025550195')
  const entry = app.live.enter({ organizationId, callId: call }, media)
  for (const query of ['?words=all', `?words=${call}`]) {
    const stream = await follow(browser, undefined, query)
    await settled(stream)
    entry.said(turnOf(1, 'A secret word'))
    await appendTurn(app.db, { organizationId, callId: call }, turnOf(1, 'A secret word'))
    const own = await other.placeCall(query === '?words=all' ? '+12025550196' : '+12025550197')
    const next = await stream.next()
    assert.deepEqual(next?.data, { kind: 'call', id: own })
    stream.stop()
  }
  for (const query of ['?words=', '?words=x', `?words=${Array(21).fill(call).join(',')}`])
    assert.equal((await follow(browser, undefined, query)).response.status, 400, query)
})
