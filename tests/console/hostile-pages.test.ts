import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathAfterSignIn } from '../../dashboard/src/client/path-after-sign-in.ts'
import { startComposedConsole } from '../support/composed-console.ts'

let app: Awaited<ReturnType<typeof startComposedConsole>>
before(async () => {
  app = await startComposedConsole()
})
after(() => app.stop())

test('every answer has the headers that keep foreign programs and frames out', async () => {
  for (const path of ['/console/session', '/console/nothing', '/nowhere']) {
    const { headers } = await app.browse().send('GET', path)
    const policy = headers.get('content-security-policy') ?? ''
    const directives = new Map(policy.split('; ').map((each) => [each.split(' ', 1)[0], each]))
    assert.equal(directives.get('default-src'), "default-src 'none'")
    // No 'unsafe-inline', no 'unsafe-eval', no host of others.
    assert.equal(directives.get('script-src'), "script-src 'self'")
    assert.equal(directives.get('base-uri'), "base-uri 'none'")
    assert.equal(directives.get('form-action'), "form-action 'self'")
    assert.equal(directives.get('frame-ancestors'), "frame-ancestors 'none'")
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(headers.get('x-frame-options'), 'DENY')
    assert.equal(headers.get('referrer-policy'), 'no-referrer')
  }
})

test('the page itself has no program that stands in it', () => {
  const page = readFileSync(join(import.meta.dirname, '../../dashboard/index.html'), 'utf8')
  const scripts = page.match(/<script\b[^>]*>[^<]*/gi) ?? []
  assert.ok(scripts.length > 0)
  for (const script of scripts) assert.match(script, /^<script [^>]*src="\/[^"]*"[^>]*>$/)
  assert.doesNotMatch(page, /\son[a-z]+\s*=|javascript:/i)
})

test('a sign-in leads to a path of this dashboard, whatever the link says', () => {
  const origin = 'https://calls.test'
  for (const path of ['/agents', '/calls?status=queued', '/calls/a%2Fb#turn', '/?next=//evil.test'])
    assert.equal(pathAfterSignIn(path, origin), path)
  const foreign = [
    'https://evil.test',
    '//evil.test',
    '/\\evil.test',
    '\\\\evil.test',
    '/\t/evil.test',
    '/\n/evil.test',
    '/\r\n\\evil.test',
    '/..//evil.test',
    '/.//evil.test',
    '/%2e//evil.test',
    '/a/..//evil.test',
    '///evil.test',
    '/\u0000/../\\evil.test',
    'javascript:alert(1)',
    ' /agents',
    'agents',
    '/login',
    '/login?next=/login',
    '',
    undefined,
    {},
    ['/agents'],
  ]
  for (const next of foreign) {
    const path = pathAfterSignIn(next, origin)
    assert.equal(new URL(path, origin).origin, origin, JSON.stringify(next))
    assert.doesNotMatch(path, /^\/[/\\]|[\t\n\r\\]/, JSON.stringify(next))
  }
  for (const next of ['//evil.test', '/\t/evil.test', 'javascript:alert(1)', '/login?next=/login'])
    assert.equal(pathAfterSignIn(next, origin), '/')
})
