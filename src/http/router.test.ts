import {
  aCall,
  allowing,
  get,
  ok,
  post,
  refused,
  send,
  testResponses,
} from '../../tests/support/response-table.ts'

const notFound = refused('resource_not_found')
const meteredNotFound = refused('resource_not_found', {
  'ratelimit-policy': '"read";q=6000;w=60',
})
const forbidden = refused('insufficient_scope')
const created = ok(202, { location: aCall })

testResponses([
  ['a read', get(aCall), ok(200)],
  ['HEAD as GET', send(`HEAD ${aCall}`), ok(200)],
  ['a create', post('/calls', '{"agent_id":"a","contact_id":"c"}'), created],
  ['an absolute-form target', get(`http://x${aCall}`), ok(200)],
  ['an escaped letter in the path', get(aCall.replace('calls', 'c%61lls')), ok(200)],
  ['an id in upper case', get(aCall.replaceAll('c', 'C').replace('Calls', 'calls')), ok(200)],

  ['an unknown path', get('/nowhere'), notFound],
  ['an empty path', get('/'), notFound],
  ['a trailing slash', get('/calls/'), notFound],
  ['a doubled slash', get('//calls'), notFound],
  ['an empty id', get('/calls//summary'), notFound],
  ['another case of the path', get('/Calls'), notFound],
  ['a malformed escape in an id', get('/calls/%zz'), meteredNotFound],
  ['an escape that is not UTF-8', get('/contacts/%ff'), meteredNotFound],
  ['a malformed escape in an unknown path', get('/nowhere/%zz'), notFound],
  [
    'another method on an id with a malformed escape',
    send('DELETE /contacts/%ff'),
    allowing('GET, HEAD'),
  ],
  ['a malformed id', get('/calls/17'), notFound],
  ['a NUL in an id', get('/contacts/a%00b'), notFound],
  ['an id of 256 characters', get(`/contacts/${'x'.repeat(256)}`), notFound],
  ['an asterisk', send('OPTIONS *'), notFound],

  ['another method', send(`DELETE ${aCall}`), allowing('GET, HEAD')],
  ['OPTIONS', send('OPTIONS /calls'), allowing('POST, GET, HEAD')],
  ['PURGE', send('PURGE /contacts'), allowing('POST, GET, HEAD')],
  ['TRACE', send(`TRACE ${aCall}/cancel`), allowing('POST')],
  ['a method in lower case', send('get /agents'), allowing('GET, HEAD')],
  ['a method nobody knows', send('BREW /calls'), allowing('POST, GET, HEAD')],
  ['an unknown method on an unknown path', send('BREW /tea'), notFound],
  ['CONNECT', send('CONNECT x:1'), notFound],
  ['CONNECT to a path', send('CONNECT /calls'), allowing('POST, GET, HEAD')],
  ...['CONNECT', 'PURGE', 'BREW'].map(
    (method) =>
      [
        `${method} without a key`,
        send(`${method} /calls`, { authorization: [], 'x-request-id': 'mine' }),
        refused('authentication_required', { 'x-request-id': 'mine' }),
      ] as const,
  ),

  ['a bearer key that renames a key', send('PATCH /api-keys/k1'), forbidden],
  ['a bearer key on the list of keys', get('/api-keys'), forbidden],
  ['a bearer key below a key', post('/api-keys/k1/x', '{}'), forbidden],
  [
    'another method among the keys',
    send('DELETE /api-keys/k1'),
    allowing('GET, HEAD, POST, PATCH'),
  ],
  ['a path that only begins like the keys', get('/api-keysX'), notFound],
])
