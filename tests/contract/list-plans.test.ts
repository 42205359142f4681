/**
 * Every list with every combination of its filters reads the one matching index, in order, on never analyzed tables
 * as on others, for one value as for all.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql, type Queryable, type Statement } from '../../src/database/database.ts'
import { listSettings } from '../../src/database/lists.ts'
import type { ListRequest, Page } from '../../src/database/newest-first.ts'
import { listEligibleAgentRows } from '../../src/domains/agents/agent-store.ts'
import { listAutomationRows } from '../../src/domains/automations/automation-store.ts'
import { listRunRows } from '../../src/domains/automations/run-store.ts'
import { listApiBatches, listOwnBatches } from '../../src/domains/batches/batch-store.ts'
import { listApiCalls, listOwnCalls } from '../../src/domains/calls/call-store.ts'
import { listContactRows } from '../../src/domains/contacts/contact-store.ts'
import { listRecordingRows } from '../../src/domains/recordings/recording-store.ts'
import { listRequestRows } from '../../src/domains/requests/request-store.ts'
import { newId } from '../../src/runtime/ids.ts'
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts'

type Read = (db: Queryable, request: ListRequest<never>) => Promise<Page<{ readonly id: string }>>

interface List {
  readonly read: Read
  readonly filters: Readonly<Record<string, unknown>>
  /** The index for the first given filter in this list (both of `a+b`), the last one without any. */
  readonly indexes: readonly (readonly [filter: string, index: string])[]
  /** Filters whose few rows may be sorted. */
  readonly sorted?: readonly string[]
  /** Rows read for each row of a page. */
  readonly besides?: string
  /** Only for operators: comparisons outside of the index. */
  readonly compared?: readonly string[]
}

const times = { created_after: '2026-01-01T00:00:00Z', created_before: '2027-01-01T00:00:00Z' }

const lists: Readonly<Record<string, List>> = {
  calls: {
    read: listApiCalls as Read,
    filters: {
      status: 'failed',
      contact_id: newId(),
      agent_id: newId(),
      batch_id: newId(),
      automation_run_id: newId(),
      ...times,
    },
    indexes: [
      ['automation_run_id', 'calls_automation_run'],
      ['batch_id', 'calls_batch_counts'],
      ['contact_id+agent_id', 'calls_contact_agent_list'],
      ['contact_id', 'calls_contact_list'],
      ['agent_id', 'calls_agent_list'],
      ['', 'calls_list'],
    ],
    sorted: ['automation_run_id', 'batch_id'],
  },
  'automation runs': {
    read: listRunRows as Read,
    filters: { status: 'failed', automation_id: newId(), contact_id: newId(), ...times },
    indexes: [
      ['contact_id', 'automation_runs_contact_list'],
      ['automation_id', 'automation_runs_automation_list'],
      ['', 'automation_runs_list'],
    ],
  },
  contacts: {
    read: listContactRows as Read,
    filters: { source: 'crm', ...times },
    indexes: [
      ['source', 'contacts_source_list'],
      ['', 'contacts_list'],
    ],
  },
  'contacts of an external id': {
    read: listContactRows as Read,
    filters: { external_id: 'c-1', ...times },
    indexes: [
      ['external_id', 'contacts_external_id_list'],
      ['', 'contacts_list'],
    ],
  },
  recordings: {
    read: listRecordingRows as Read,
    filters: { contact_id: newId(), ...times },
    indexes: [
      ['contact_id', 'recordings_contact_list'],
      ['', 'recordings_newest'],
    ],
  },
  agents: {
    read: listEligibleAgentRows as Read,
    filters: {},
    indexes: [['', 'agents_eligible']],
  },
  batches: {
    read: listApiBatches as Read,
    filters: { status: 'completed' },
    indexes: [
      ['status', 'batches_status'],
      ['', 'batches_newest'],
    ],
    besides: 'calls_batch_counts',
  },
  automations: {
    read: listAutomationRows as Read,
    filters: { status: 'active' },
    indexes: [
      ['status', 'automations_status'],
      ['', 'automations_newest'],
    ],
  },
  'calls of operators': {
    read: listOwnCalls as Read,
    filters: { status: 'failed', contact_id: newId(), agent_id: newId(), batch_id: newId() },
    indexes: [
      ['batch_id', 'calls_batch_counts'],
      ['', 'calls_own_list'],
    ],
    sorted: ['batch_id'],
    compared: ['status', 'contact_id', 'agent_id'],
  },
  'batches of operators': {
    read: listOwnBatches as Read,
    filters: { status: 'completed' },
    indexes: [['', 'batches_own_list']],
    besides: 'calls_batch_counts',
    compared: ['status'],
  },
  'requests of the API': {
    read: listRequestRows as Read,
    filters: {
      target_id: newId(),
      is_refused: true,
      status_class: 4,
      error_code: 'invalid_json',
      ...times,
    },
    indexes: [
      ['target_id', 'api_requests_target'],
      ['is_refused', 'api_requests_refused'],
      ['', 'api_requests_newest'],
    ],
    sorted: ['target_id'],
    compared: ['status_class', 'error_code'],
  },
}

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

const subsetsOf = (filters: readonly string[]): string[][] =>
  filters.reduce<string[][]>(
    (made, filter) => [...made, ...made.map((each) => [...each, filter])],
    [[]],
  )

/** The list's query. */
const sentBy = async (
  read: Read,
  request: ListRequest<never>,
): Promise<{ statement: Statement; values: readonly unknown[] }> => {
  const sent = Promise.withResolvers<{ statement: Statement; values: readonly unknown[] }>()
  const note = (statement: Statement, values: readonly unknown[]) => {
    sent.resolve({ statement, values })
    return Promise.resolve([])
  }
  await read({ rows: note } as unknown as Queryable, request)
  return sent.promise
}

const isGiven = (filter: string, used: readonly string[]): boolean =>
  filter === '' || filter.split('+').every((each) => used.includes(each))

let explained = 0

const planOf = async (
  mode: string,
  { statement, values }: { statement: Statement; values: readonly unknown[] },
): Promise<string> => {
  explained += 1
  const name = `explained_${explained}`
  const literals = values.map((value) => (typeof value === 'number' ? value : `'${String(value)}'`))
  const settings = listSettings.replaceAll(' -c ', '; set local ').replaceAll('=', ' to ').slice(2)
  return database.db.transaction(async (tx) => {
    const send = (text: string) => tx.rows<object>(sql(`${name}.${text.length}`, text), [])
    for (const each of [...settings.split('; '), `set local plan_cache_mode to ${mode}`])
      await send(each)
    await send(`prepare ${name} as ${statement.text}`)
    const rows = await send(`explain (costs off) execute ${name}(${literals.join(', ')})`)
    return rows.map((row) => Object.values(row).join('')).join('\n')
  })
}

for (const [name, list] of Object.entries(lists)) {
  test(`${name}: each combination of filters reads its own index in order`, async () => {
    const { read, filters, indexes, besides, sorted = [], compared = [] } = list
    for (const used of subsetsOf(Object.keys(filters))) {
      for (const cursor of [undefined, { sort: '2026-06-01T00:00:00.000000Z', id: newId() }]) {
        const given = Object.fromEntries(used.map((filter) => [filter, filters[filter]]))
        const request = { organizationId: newId(), limit: 50, filters: given, cursor }
        const [, index] = indexes.find(([filter]) => isGiven(filter, used)) ?? []
        for (const mode of ['force_custom_plan', 'force_generic_plan']) {
          const plan = await planOf(mode, await sentBy(read, request as ListRequest<never>))
          const found = [...plan.matchAll(/using (\w+) on/g)]
            .map((match) => match[1])
            .filter((each) => each !== besides)
          const about = `${used.join('+')} ${mode}\n${plan}`
          assert.deepEqual([...new Set(found)], [index], about)
          if (sorted.some((filter) => used.includes(filter))) continue
          assert.doesNotMatch(
            plan,
            /^ *(-> +)?(Incremental )?Sort\b(?! Key)|Seq Scan|Bitmap/m,
            about,
          )
          if (compared.some((filter) => used.includes(filter))) continue
          // Rows compared outside of the index are read in vain if they do not match.
          assert.doesNotMatch(
            plan,
            /Filter:.*(?<!'::text \|\| )\b(status =|contact_id|agent_id|automation_id|source =)/,
            about,
          )
        }
      }
    }
  })
}
