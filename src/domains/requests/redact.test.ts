import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AnsweredRequest } from '../../contract/answered-request.ts'
import type { OrganizationId } from '../../contract/organization-id.ts'
import { newId } from '../../runtime/ids.ts'
import { describeRequest } from './describe-request.ts'
import { hidden, redact, redactPath, redactQuery } from './redact.ts'

const id = newId()

describe('a stored body', () => {
  it('keeps ids, times, small numbers and words of the contract', () => {
    const body = {
      agent_id: id,
      scheduled_at: '2026-11-23T09:00:00+01:00',
      window: { start_time: '09:00', weekdays: ['monday', 'friday'] },
      limit: 100,
      ratio: 1.5,
      draft: true,
      note: null,
      status: 'queued',
    }
    assert.deepEqual(redact(body), body)
  })

  it('masks numbers, names, addresses, keys and free text', () => {
    const body = {
      agent_id: 'agent of Ada',
      recipient: { phone_number: '+12025550123', name: 'Ada', email: 'ada@example.com' },
      status: 'Ada Lovelace',
      type: '+12025550123',
      code: 'od_live_0123456789abcdef',
      note: 'Call 2025550123 please',
      facts: { balance: 12025550123, day: '2026-11-23T09:00:00Z Ada' },
      time: '09:00 Ada',
    }
    const text = JSON.stringify(redact(body))
    assert.match(text, /\+1•••23/)
    assert.doesNotMatch(text, /ada|2025550|od_live|please/i)
  })

  it('masks names of members that read like no name', () => {
    const body = {
      'Ada Lovelace': 1,
      '+12025550123': 2,
      n12025550123: 3,
      __proto__x: 4,
      good_one: 5,
    }
    assert.deepEqual(redact(body), { [hidden]: 4, good_one: 5 })
    const own = JSON.parse('{"__proto__": {"name": "Ada"}}') as unknown
    assert.deepEqual(redact(own), { [hidden]: { name: hidden } })
  })

  it('is bounded, whatever its width and depth', () => {
    const wide = Object.fromEntries(
      Array.from({ length: 50_000 }, (_, at) => [
        `m${'x'.repeat(at % 37)}${String.fromCharCode(97 + (at % 26))}`,
        id,
      ]),
    )
    const many = {
      recipients: Array.from({ length: 5_000 }, () => ({ phone_number: '+12025550123' })),
    }
    let deep: unknown = 'Ada'
    for (let level = 0; level < 60; level += 1) deep = { next: [deep] }
    for (const body of [wide, many, deep, [wide, wide], Array.from({ length: 90_000 }, () => [])]) {
      const text = JSON.stringify(redact(body))
      assert.ok(Buffer.byteLength(text) < 16_384, String(text.length))
    }
    assert.match(JSON.stringify(redact(many)), /… 4995 more/)
  })
})

describe('a stored path', () => {
  it('keeps ids and the words of known paths', () => {
    assert.equal(redactPath(`/calls/${id}/transcripts`), `/calls/${id}/${hidden}`)
    assert.equal(redactPath(`/automation-runs/${id}/cancel`), `/automation-runs/${id}/cancel`)
    assert.equal(redactPath('/contacts/+12025550123/ada'), `/contacts/${hidden}/${hidden}`)
    assert.equal(redactPath('/ada@example.com'), `/${hidden}`)
    assert.equal(redactPath('*'), '/')
    assert.equal(redactPath('/'.repeat(20_000)).length < 100, true)
  })

  it('keeps of a query names, ids and small numbers', () => {
    assert.equal(
      redactQuery(`limit=10&status=queued&contact_id=${id}&external_id=Ada&phone=%2B12025550123`),
      `?limit=10&status=queued&contact_id=${id}&external_id=${hidden}&phone=%2B1${hidden}23`,
    )
    assert.equal(redactQuery('number=12025550123&Ada+Lovelace=1'), `?number=${hidden}&${hidden}=1`)
  })
})

describe('a described request', () => {
  const answered = (given: Partial<AnsweredRequest>): AnsweredRequest => ({
    principal: {
      kind: 'key',
      organizationId: newId() as OrganizationId,
      apiKeyId: newId(),
    } as AnsweredRequest['principal'],
    requestId: 'req_1',
    method: 'POST',
    target: '/calls?debug=Ada',
    operation: 'placeCall',
    template: '/calls',
    params: {},
    status: 202,
    durationMs: 3.4,
    isAllowed: true,
    isClaimed: true,
    isReplay: false,
    body: { agent_id: id },
    bodyBytes: 60,
    answer: JSON.stringify({ id, status: 'queued' }),
    location: `/calls/${id}`,
    ...given,
  })
  const row = (given: Partial<AnsweredRequest>) =>
    describeRequest(answered(given), { id: newId(), at: new Date(0) })

  it('names what it made, and a replay makes nothing', () => {
    const { target_type: type, target_id: target, made, idempotency } = row({})
    assert.deepEqual([type, target, made, idempotency], ['call', id, true, 'new'])
    assert.deepEqual(
      [row({ isReplay: true }).made, row({ isReplay: true }).idempotency],
      [false, 'replayed'],
    )
  })

  it('holds of a refusal its code and fields, and nothing that the client named after a person', () => {
    const answer = JSON.stringify({
      error: {
        code: 'validation_error',
        message: 'Ada Lovelace is not known.',
        details: {
          fields: [
            { path: 'recipient.phone_number', code: 'invalid_format' },
            { path: 'items[3].Ada Lovelace', code: 'unknown_field' },
          ],
        },
      },
    })
    const refused = row({ status: 400, answer, location: undefined, params: { call_id: 'Ada' } })
    assert.deepEqual(refused.error_fields, [
      { path: 'recipient.phone_number', code: 'invalid_format' },
      { path: `items[3].${hidden}`, code: 'unknown_field' },
    ])
    assert.deepEqual([refused.error_code, refused.idempotency], ['validation_error', 'refused'])
    assert.doesNotMatch(JSON.stringify(refused), /Ada/)
  })

  it('holds nothing of what was read', () => {
    const read = row({ method: 'GET', status: 200, body: undefined, answer: 'no JSON: never read' })
    assert.equal(read.response_body, null)
  })
})
