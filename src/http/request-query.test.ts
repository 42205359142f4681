import {
  aCall,
  get,
  invalid,
  ok,
  testResponses,
  type ResponseCase,
} from '../../tests/support/response-table.ts'
import type { FieldCode } from '../contract/errors.ts'

const recordings = '/recordings?include=download_url'
const aRecording = '/recordings/5b0f8f5e-3f0e-5d0e-9a41-6c1de0a4b6f2'

/** A path that is refused for one parameter. */
const bad = (path: string, parameter: string, code: FieldCode): ResponseCase => [
  path.slice(0, 60),
  get(path),
  invalid([parameter, code]),
]

testResponses([
  ['a limit of 100', get('/calls?limit=100'), ok(200)],
  ['a limit of 250 for transcripts', get(`${aCall}/transcript?limit=250`), ok(200)],
  ['an escaped parameter name', get('/calls?lim%69t=5'), ok(200)],
  [
    'every filter of calls',
    get('/calls?status=queued&contact_id=c&agent_id=a&batch_id=b'),
    ok(200),
  ],
  [
    'a window',
    get('/calls?created_after=2026-01-01T00:00:00z&created_before=2026-01-01t00:00:00.0001Z'),
    ok(200),
  ],
  bad('/calls?limit=0', 'limit', 'too_small'),
  bad('/calls?limit=-5', 'limit', 'too_small'),
  bad('/calls?limit=101', 'limit', 'too_large'),
  bad(`/calls?limit=${'9'.repeat(400)}`, 'limit', 'too_large'),
  bad(`${aCall}/transcript?limit=251`, 'limit', 'too_large'),
  bad('/calls?limit=', 'limit', 'invalid_type'),
  bad('/calls?limit', 'limit', 'invalid_type'),
  bad('/calls?limit=1.5', 'limit', 'invalid_type'),
  bad('/calls?limit=1e1', 'limit', 'invalid_type'),
  bad('/calls?limit=+5', 'limit', 'invalid_type'),
  bad('/calls?limit=5&limit=5', 'limit', 'duplicate_item'),
  bad('/calls?page=2', 'page', 'unknown_field'),
  bad('/calls?__proto__=2', '__proto__', 'unknown_field'),
  bad(`${aCall}?x=1`, 'x', 'unknown_field'),
  bad('/contacts?external_id=%zz', 'external_id', 'invalid_format'),
  bad('/contacts?external_id=%00', 'external_id', 'invalid_format'),
  bad('/contacts?external_id=', 'external_id', 'too_short'),
  bad('/contacts?source=Crm', 'source', 'invalid_format'),
  bad('/calls?status=done', 'status', 'invalid_enum'),
  bad('/calls?created_after=yesterday', 'created_after', 'invalid_date_time'),
  bad('/calls?created_after=2026-02-30T00:00:00Z', 'created_after', 'invalid_date_time'),
  bad('/calls?created_after=2026-01-01T00:00:00', 'created_after', 'invalid_date_time'),
  bad('/calls?created_after=2026-01-01T24:00:00Z', 'created_after', 'invalid_date_time'),
  bad(
    '/calls?created_after=2026-01-01T02:00:00%2B02:00&created_before=2026-01-01T00:00:00Z',
    'created_before',
    'invalid_range',
  ),
  bad('/calls?cursor=', 'cursor', 'too_short'),
  bad(`/calls?cursor=${'A'.repeat(2049)}`, 'cursor', 'too_long'),
  bad('/calls?cursor=AAAA', 'cursor', 'invalid_cursor'),
  bad('/recordings?expires_in=60', 'expires_in', 'requires_include'),
  bad('/recordings?include=audio', 'include', 'invalid_enum'),
  bad(`${recordings}&expires_in=59`, 'expires_in', 'too_small'),
  bad(`${recordings}&expires_in=3601`, 'expires_in', 'too_large'),
  bad(`${aRecording}?include=download_url`, 'include', 'unknown_field'),
  ['a URL of an hour', get(`${aRecording}?expires_in=3600`), ok(200)],
])
