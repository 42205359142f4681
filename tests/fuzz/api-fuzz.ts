// Hostile requests over real sockets: `npm run fuzz -- --requests 20000 --seed 1`, against the real handlers over a
// new database, or `--url URL --key KEY` against a running one, preferably a sandbox with high rate limits. Exit
// status 1 if a response is wrong.
import { Agent, request as httpRequest } from 'node:http'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { createAnswerJudge, type JudgedAnswer } from '../support/response-judge.ts'
import { operations } from '../../src/contract/operations.ts'
import { startComposedApi } from '../support/composed-api.ts'
import { hostileRequests, type HostileRequest, type KnownIds } from '../support/hostile-requests.ts'

export interface FuzzOptions {
  readonly url: string
  readonly key: string
  readonly requests: number
  readonly seed: number
}

export interface FuzzReport {
  readonly requests: number
  readonly statuses: ReadonlyMap<number, number>
  readonly faults: readonly FuzzFault[]
  /** Operations without a successful request. */
  readonly neverServed: readonly string[]
}

export interface FuzzFault {
  readonly request: HostileRequest
  readonly answer: JudgedAnswer
  readonly wrong: readonly string[]
}

const concurrency = 8
/** Requests generated at one time, with consecutive seeds. */
const chunkSize = 500
const requestTimeoutMs = 20_000
/** Faults kept for the report. */
const maxFaults = 20

/** Sends the requests of this seed and judges every response. */
export const fuzzApi = async (options: FuzzOptions): Promise<FuzzReport> => {
  const judge = createAnswerJudge()
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency })
  const statuses = new Map<number, number>()
  const faults: FuzzFault[] = []
  const neverServed = new Set(Object.keys(operations))
  const ask = async (request: HostileRequest): Promise<void> => {
    const answer = await send(options.url, request, agent)
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    if (answer.status < 300 && request.method !== 'HEAD') neverServed.delete(request.origin)
    const wrong = judge(request.method, request.path, answer)
    if (wrong.length > 0 && faults.length < maxFaults) faults.push({ request, answer, wrong })
  }
  for (let done = 0; done < options.requests; done += chunkSize) {
    const numRuns = Math.min(chunkSize, options.requests - done)
    // Again for each chunk: it finds what the previous one created.
    const arbitrary = hostileRequests(options.key, await findKnownIds(options.url, options.key))
    const requests = fc.sample(arbitrary, { numRuns, seed: options.seed + done }).values()
    // Workers share one iterator, so each request is sent once.
    const work = async (): Promise<void> => {
      for (const request of requests) await ask(request)
    }
    await Promise.all(Array.from({ length: concurrency }, work))
  }
  agent.destroy()
  return { requests: options.requests, statuses, faults, neverServed: [...neverServed] }
}

const lists = {
  agent_id: 'agents',
  contact_id: 'contacts',
  call_id: 'calls',
  recording_id: 'recordings',
  batch_id: 'batches',
  automation_id: 'automations',
  run_id: 'automation-runs',
}

/** The server's existing resources: the first page of every list. */
const findKnownIds = async (url: string, key: string): Promise<KnownIds> => {
  const idsOf = async ([name, list]: [string, string]): Promise<[string, string[]]> => {
    const response = await fetch(`${url}/${list}`, { headers: { authorization: `Bearer ${key}` } })
    const { data = [] } = (await response.json()) as { data?: { id: string }[] }
    return [name, data.map(({ id }) => id)]
  }
  return Object.fromEntries(await Promise.all(Object.entries(lists).map(idsOf)))
}

const send = (url: string, request: HostileRequest, agent: Agent): Promise<JudgedAnswer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const sent = httpRequest(
      {
        agent,
        hostname,
        port,
        method: request.method,
        path: request.path,
        // As a flat list, so that a header can repeat.
        headers: [
          ...request.headers.flat(),
          ...(request.headers.some(([name]) => name === 'host') ? [] : ['host', 'fuzz']),
          ...(request.body ? ['content-length', String(request.body.length)] : []),
        ],
        timeout: requestTimeoutMs,
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers as JudgedAnswer['headers'],
            body: Buffer.concat(chunks).toString(),
          }),
        )
      },
    )
    sent.on('timeout', () => sent.destroy(new Error('No answer in time.')))
    sent.on('error', (error) => reject(new Error(describe(request), { cause: error })))
    sent.end(request.body)
  })

const describe = ({ method, path, headers, body }: HostileRequest): string =>
  JSON.stringify({
    method,
    path,
    headers: headers.slice(0, 10),
    body: body?.toString().slice(0, 500),
  })

const report = (
  { requests, statuses, faults, neverServed }: FuzzReport,
  seed: number,
  tookMs: number,
): void => {
  for (const { request, answer, wrong } of faults)
    console.error(
      `${wrong.join('; ')}\n  ${describe(request)}\n  ${answer.status} ${answer.body.slice(0, 300)}`,
    )
  const table = [...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`)
  console.log(
    `fuzz: ${requests} requests, seed ${seed}, ${Math.round(tookMs)} ms; ${table.join(', ')}`,
  )
  if (neverServed.length > 0) console.log(`fuzz: no success of ${neverServed.join(', ')}`)
  console.log(`fuzz: ${faults.length} wrong answers (goal 0)`)
}

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      requests: { type: 'string', default: '20000' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      url: { type: 'string' },
      key: { type: 'string' },
    },
  })
  const [requests, seed] = [Number(values.requests), Number(values.seed)]
  const own = values.url === undefined ? await startComposedApi() : undefined
  const url = values.url ?? own?.url ?? ''
  const key = values.key ?? (await own?.createTenant('Fuzzed'))?.secret ?? ''
  const startedMs = performance.now()
  const found = await fuzzApi({ url, key, requests, seed })
  report(found, seed, performance.now() - startedMs)
  if (found.faults.length > 0) process.exitCode = 1
  await own?.stop()
}

// The start script imports this file, so `import.meta.main` would be false.
if (process.argv[1] === import.meta.filename) await main()
