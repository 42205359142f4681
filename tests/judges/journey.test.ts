// Runs beside others: it waits for most of its 15 s.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { createApiClient, terminalStates, type ApiClient } from '../support/api-client.ts'
import { freeTcpPort } from '../support/free-port.ts'
import {
  askOutdial,
  createInstallation,
  startOutdial,
  type OutdialProcess,
} from '../support/outdial-process.ts'
import { sandboxOrganization } from '../support/sandbox-tenant.ts'
import { until } from '../support/until.ts'
import { documentFile, missingJudges, runJudge, startPrism } from './judge.ts'

/** The running program, asked by programs that know nothing of it but the published document. */

const skip = missingJudges() ?? false

let installation: Awaited<ReturnType<typeof createInstallation>>
let outdial: OutdialProcess
let secret: string

before(async () => {
  if (skip) return
  installation = await createInstallation()
  outdial = await startOutdial(installation.env)
  const organization = await sandboxOrganization(installation.env)
  const key = await askOutdial<{ secret: string }>(
    installation.env,
    ...`key create --org ${organization} --name judge --scopes all`.split(' '),
  )
  secret = key.secret
})
after(async () => {
  if (skip) return
  assert.equal(await outdial.stop(), 0)
  installation.remove()
})

/** What Prism says in the place of an answer, or adds to it, when one breaks the document. */
const assertNotPrism = (answer: Awaited<ReturnType<ApiClient['get']>>): void => {
  assert.doesNotMatch(JSON.stringify(answer.body), /stoplight\.io\/prism/)
  assert.equal(answer.headers.get('sl-violations'), null)
}

test('every answer on the way of a call passes Prism’s validating proxy', { skip }, async () => {
  const prism = await startPrism(outdial.apiUrl, await freeTcpPort())
  const client = createApiClient(prism.url, secret)
  const judged =
    <Args extends unknown[]>(ask: (...args: Args) => ReturnType<ApiClient['get']>) =>
    async (status: number, ...args: Args): Promise<Record<string, unknown>> => {
      const answer = await ask(...args)
      assertNotPrism(answer)
      assert.equal(answer.status, status, `${String(args[0])}: ${JSON.stringify(answer.body)}`)
      return answer.body
    }
  const get = judged(client.get)
  const post = judged(client.post)
  const firstOf = ({ data }: Record<string, unknown>) => (data as { id: string }[])[0]
  try {
    // The judge must judge, or all that follows shows nothing.
    const { body: refusal } = await client.get('/calls?limit=1000')
    assert.match(JSON.stringify(refusal), /stoplight\.io\/prism/)

    const agent = firstOf(await get(200, '/agents'))?.id ?? assert.fail('no agent')
    const person = { external_id: 'prism', name: 'Ada', phone_number: '+12025550107' }
    const contact = await post(201, '/contacts', person)
    await post(200, '/contacts', { ...person, company: 'Analytical Engines' })
    await post(409, '/contacts', { ...person, external_id: 'another' })
    await get(200, `/contacts/${String(contact['id'])}`)
    await get(200, '/contacts?external_id=prism&source=public_api&limit=1')

    const body = { agent_id: agent, contact_id: String(contact['id']) }
    const placed = await post(202, '/calls', body, 'prism-call')
    assert.deepEqual(await post(202, '/calls', body, 'prism-call'), placed)
    await post(409, '/calls', { ...body, contact_id: agent }, 'prism-call')
    await post(404, '/calls', { ...body, contact_id: 'nobody' })
    await post(400, '/calls', {
      agent_id: agent,
      recipient: { external_id: 'premium', name: 'P', phone_number: '+19005550100' },
    })
    const id = String(placed['id'])
    const ended = await until(
      'the call to end',
      async () => {
        const call = await get(200, `/calls/${id}`)
        return terminalStates.includes(String(call['status'])) ? call : undefined
      },
      { timeoutMs: 120_000, everyMs: 250 },
    )
    assert.equal(ended['answer_status'], 'answered')
    await post(200, `/calls/${id}/cancel`, {})
    for (const kind of ['summary', 'transcript'])
      await until(`the ${kind}`, async () => {
        const { status } = await get(200, `/calls/${id}/${kind}`)
        return status === 'processing' ? undefined : true
      })
    const recording = await until('the recording', async () =>
      firstOf(await get(200, '/recordings?include=download_url&expires_in=60')),
    )
    await get(200, `/recordings/${recording.id}?expires_in=3600`)
    await get(404, '/recordings/019c6b2e-7a40-7c31-9d0f-2f6a51b7ca11')
    await get(404, '/calls/019c6b2e-7a40-7c31-9d0f-2f6a51b7ca11')
    await get(200, '/calls?status=completed&limit=1')

    const draft = await post(201, '/batches', {
      name: 'Judged',
      agent_id: agent,
      contact_ids: [String(contact['id'])],
    })
    const batch = `/batches/${String(draft['id'])}`
    await get(200, batch)
    await post(409, `${batch}/pause`, {})
    await post(200, `${batch}/cancel`, {})
    await post(409, `${batch}/start`, {})
    for (const list of ['/batches', '/automations?status=active', '/automation-runs'])
      await get(200, list)
    await post(404, '/automation-runs', { automation_id: 'none', contact_id: 'none' })
  } finally {
    await prism.stop()
  }
})

type Generated = (options: object) => Promise<{
  readonly data?: Record<string, unknown>
  readonly error?: { readonly error: { readonly code: string } }
  readonly response: Response
}>

/** A client made from the document alone, checked by our compiler in strict mode and turned into JavaScript. */
const generateClient = async (folder: string): Promise<Readonly<Record<string, Generated>>> => {
  const source = join(folder, 'client')
  const made = runJudge(
    'openapi-ts',
    '-i',
    documentFile,
    '-o',
    source,
    '-c',
    '@hey-api/client-fetch',
  )
  assert.equal(made.status, 0, made.output)
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  const compiler = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc')
  const compilerOptions = {
    strict: true,
    module: 'nodenext',
    target: 'es2024',
    lib: ['es2024', 'dom', 'dom.iterable'],
    types: [],
    rootDir: 'client',
    outDir: 'js',
  }
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['client'] }),
  )
  const compiled = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' })
  assert.equal(compiled.status, 0, compiled.stdout)
  const module: unknown = await import(pathToFileURL(join(folder, 'js/sdk.gen.js')).href)
  return module as Readonly<Record<string, Generated>>
}

test('a client generated from the document drives a call to its end', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'outdial-client-'))
  try {
    const sdk = await generateClient(folder)
    const ask = (name: string, options: object = {}) => {
      const operation = sdk[name] ?? assert.fail(`the client has no ${name}`)
      return operation({ baseUrl: outdial.apiUrl, auth: secret, ...options })
    }
    const agents = await ask('listAgents')
    const [agent] = (agents.data?.['data'] ?? []) as { id: string }[]
    const recipient = { external_id: 'generated', name: 'Ada', phone_number: '+12025550101' }
    const headers = { 'Idempotency-Key': 'generated-call' }
    const placed = await ask('placeCall', { headers, body: { agent_id: agent?.id, recipient } })
    assert.equal(placed.response.status, 202, JSON.stringify(placed.error))
    const path = { call_id: placed.data?.['id'] }
    const ended = await until(
      'the call to end',
      async () => {
        const { data } = await ask('getCall', { path })
        return terminalStates.includes(String(data?.['status'])) ? data : undefined
      },
      { timeoutMs: 120_000, everyMs: 250 },
    )
    assert.equal(ended['status'], 'completed')
    assert.equal(ended['answer_status'], 'busy')
    const transcript = await ask('getCallTranscript', { path, query: { limit: 250 } })
    assert.equal(transcript.data?.['reason'], 'call_not_answered')
    const unknown = await ask('getContact', { path: { contact_id: 'nobody' } })
    assert.equal(unknown.error?.error.code, 'resource_not_found')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
