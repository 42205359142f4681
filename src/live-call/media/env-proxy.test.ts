import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { promisify } from 'node:util'

test('no proxy of the environment is used', async () => {
  const asked: string[] = []
  const proxy = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.end('the proxy')
  })
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const program = `
    import { createOutboundHttp } from ${JSON.stringify(new URL('../../runtime/outbound-http.ts', import.meta.url).href)}
    import { createProviderFetch } from ${JSON.stringify(new URL('../../conversation/engines/cascade/provider-fetch.ts', import.meta.url).href)}
    const outbound = createOutboundHttp()
    const guarded = createProviderFetch(true)
    const signal = AbortSignal.timeout(5000)
    const url = new URL('http://public.invalid/')
    const request = { organizationId: 'one', url, method: 'GET', headers: {}, signal, allowPrivateNetwork: false }
    const told = await Promise.allSettled([outbound.send(request), guarded(url)])
    console.log(JSON.stringify(told.map(({ status }) => status)))
    process.exit()`
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module-typescript', '--eval', program],
    {
      env: { ...process.env, NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxyUrl, http_proxy: proxyUrl },
    },
  )
  proxy.close()
  assert.deepEqual(JSON.parse(stdout), ['rejected', 'rejected'])
  assert.deepEqual(asked, [])
})
