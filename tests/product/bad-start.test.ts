// Runs beside others: it waits for most of its 16 s.
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import {
  askOutdial,
  createNewInstallation,
  runOutdial,
  startOutdial,
} from '../support/outdial-process.ts'
import { openSandboxTenant } from '../support/sandbox-tenant.ts'

/** A failing start explains itself in one sentence with the remedy, and ends with 1; wrong use ends with 2. */

let installation: Awaited<ReturnType<typeof createNewInstallation>>

before(async () => {
  installation = await createNewInstallation({ OUTDIAL_LOG_LEVEL: 'error' })
})
after(() => installation.remove())

const refusal = async (settings: Record<string, string>, ...args: string[]) => {
  const { status, stdout, stderr } = await runOutdial(
    { ...installation.env, ...settings },
    ...(args.length > 0 ? args : ['start']),
  )
  assert.equal(stdout, '')
  return { status, sentence: stderr.trim() }
}

test('a port in use is named with its setting', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { status, sentence } = await refusal({ OUTDIAL_API_PORT: String(port) })
  server.close()
  assert.equal(status, 1)
  assert.match(
    sentence,
    new RegExp(`^Port ${port} is in use .* OUTDIAL_API_PORT to a free port\\.$`),
  )
})

test('a SIP port in use is named with its setting', async () => {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  const { status, sentence } = await refusal({ OUTDIAL_SIP_PORT: String(port) })
  socket.close()
  assert.equal(status, 1)
  assert.match(
    sentence,
    new RegExp(`^Port ${port} is in use .* OUTDIAL_SIP_PORT to a free port\\.$`),
  )
})

test('a failed start has created no key and dialled no call', async () => {
  const { env } = installation
  const outdial = await startOutdial(env)
  const { org, agent } = await openSandboxTenant(outdial)
  await outdial.stop()
  // The key is shown once, by the first start that runs.
  assert.match(outdial.output(), /API key +od_live_/)
  const dial = ['dial', '--org', org, '--agent', agent, '+12025550101']
  const { id } = await askOutdial<{ id: string }>(env, ...dial)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  for (const name of ['OUTDIAL_API_PORT', 'OUTDIAL_MEDIA_PORT'])
    assert.equal((await refusal({ [name]: String(port) })).status, 1)
  assert.match((await refusal({ OUTDIAL_HOST: 'nowhere.invalid' })).sentence, /OUTDIAL_HOST/)
  server.close()
  const { status } = await askOutdial<{ status: string }>(env, 'call', 'show', id)
  assert.equal(status, 'queued')
})

test('a data folder that cannot be created is reported with the remedy', async () => {
  const file = join(installation.data, 'a-file')
  writeFileSync(file, '')
  for (const folder of [join(file, 'data'), '/proc/outdial/data']) {
    const { status, sentence } = await refusal({ OUTDIAL_DATA: folder })
    assert.equal(status, 1)
    assert.match(sentence, /OUTDIAL_DATA/)
    assert.equal(sentence.split('\n').length, 1, sentence)
  }
})

test('an unreachable database is reported by host, never with the password', async () => {
  const { status, sentence } = await refusal({
    DATABASE_URL: 'postgres://user:topsecret@127.0.0.1:1/outdial',
  })
  assert.equal(status, 1)
  assert.match(sentence, /127\.0\.0\.1:1 .*DATABASE_URL/)
  assert.doesNotMatch(sentence, /topsecret/)
})

test('an unknown setting and an invalid trunk end with 1', async () => {
  const unknown = await refusal({ OUTDIAL_TRUNK: 'sip:x' })
  assert.equal(unknown.status, 1)
  assert.match(unknown.sentence, /OUTDIAL_SIP_TRUNK/)
  const trunk = await refusal({ OUTDIAL_SIP_TRUNK: 'sip:user:topsecret@x;color=red' })
  assert.equal(trunk.status, 1)
  assert.match(trunk.sentence, /^OUTDIAL_SIP_TRUNK .*color/)
  assert.doesNotMatch(trunk.sentence, /topsecret/)
})

test('wrong use ends with 2', async () => {
  for (const args of [['strat'], ['org', 'set'], ['key', 'create'], ['org', 'list', '--color']])
    assert.equal((await refusal({}, ...args)).status, 2, args.join(' '))
})

test('a second instance on the same data folder is refused and the first goes on', async () => {
  const first = await startOutdial(installation.env)
  const { status, sentence } = await refusal({})
  assert.equal(status, 1)
  assert.match(sentence, new RegExp(`process ${first.child.pid}\\b`))
  assert.equal((await fetch(`${first.apiUrl}/readyz`)).status, 200)
  assert.equal(await first.stop(), 0)
})

test('a missing database is named by every command that needs it', async () => {
  const nobody = { DATABASE_URL: 'postgres://me:hidden@127.0.0.1:1/outdial' }
  for (const args of [['org', 'list'], ['migrate'], ['backup', join(installation.data, 'b')]]) {
    const { status, sentence } = await refusal(nobody, ...args)
    assert.equal(status, 1)
    assert.match(sentence, /^The database at 127\.0\.0\.1:1 cannot be used: .*Check DATABASE_URL/)
  }
})
