import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { contextOf } from '../../../tests/support/organization-fixture.ts'
import {
  createCallingOrganization,
  execute,
  type CallingOrganization,
} from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import { watchHints } from '../../../tests/support/watch-hints.ts'
import { ApiError } from '../../contract/api-error.ts'
import {
  automationRun,
  automationRunInput,
  type AutomationRun,
} from '../../contract/automation-runs.ts'
import { automation } from '../../contract/automations.ts'
import { operations } from '../../contract/operations.ts'
import { newId } from '../../runtime/ids.ts'
import { defaultPolicy } from '../organizations/calling-policy.ts'
import { addDoNotCall } from '../organizations/do-not-call.ts'
import { InvalidFileError } from '../organizations/invalid-file.ts'
import { OperatorError } from '../organizations/operator-error.ts'
import { cancelAutomationRun } from './cancel-automation-run.ts'
import { createAutomationRun } from './create-automation-run.ts'
import { getAutomation } from './get-automation.ts'
import { getAutomationRun } from './get-automation-run.ts'
import { listAutomationRuns } from './list-automation-runs.ts'
import { listAutomations } from './list-automations.ts'
import { publishAutomation } from './publish-automation.ts'
import { setAutomationStatus } from './set-automation-status.ts'
import { showAutomation } from './show-automation.ts'

let test: TestDatabase
let home: CallingOrganization
let stranger: CallingOrganization

before(async () => {
  test = await createTestDatabase()
  home = await createCallingOrganization(test.db)
  stranger = await createCallingOrganization(test.db)
})
after(() => test.drop())

const hints = watchHints(() => test.db)

const fileOf = ({ agentId }: Pick<CallingOrganization, 'agentId'>, name = 'Follow-up') => ({
  name,
  definition: {
    entry: 'call',
    steps: {
      call: { type: 'call', agent_id: agentId, next: 'done' },
      done: { type: 'end', result: 'completed' },
    },
  },
})

const publish = (organization = home, name?: string) =>
  publishAutomation(test.db, organization.organizationId, fileOf(organization, name))

const setTo = (id: string, status: 'active' | 'paused' | 'archived') =>
  test.db.transaction((tx) => setAutomationStatus(tx, id, status))

const create = (body: unknown, { organizationId } = home): Promise<AutomationRun> =>
  hints.transaction((tx) =>
    createAutomationRun(
      { params: {}, query: {}, body: automationRunInput.parse(body) },
      contextOf(tx, organizationId),
    ),
  )

const cancel = (runId: string, { organizationId } = home): Promise<AutomationRun> =>
  test.db.transaction((tx) =>
    cancelAutomationRun(
      { params: { run_id: runId }, query: {}, body: {} },
      contextOf(tx, organizationId),
    ),
  )

const getRun = (runId: string, { organizationId } = home) =>
  getAutomationRun(
    { params: { run_id: runId }, query: {}, body: {} },
    contextOf(test.db, organizationId),
  )

type RunQuery = Parameters<typeof listAutomationRuns>[0]['query']

const listRuns = async (query: Partial<RunQuery>, { organizationId } = home) =>
  listAutomationRuns(
    { params: {}, query: { limit: 100, ...query }, body: {} },
    contextOf(test.db, organizationId),
  )

const list = async (query: { status?: string } = {}, { organizationId } = home) =>
  (
    await listAutomations(
      { params: {}, query: { limit: 100, ...query }, body: {} },
      contextOf(test.db, organizationId),
    )
  ).data

const refused = async (promise: Promise<unknown>): Promise<ApiError> => {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ApiError, String(error))
  return error
}

describe('publishing', () => {
  it('makes an active Automation, as the contract shows it', async () => {
    const made = await publishAutomation(test.db, home.organizationId, {
      ...fileOf(home),
      description: 'Once.',
    })
    assert.deepEqual(automation.parse(made), made)
    assert.deepEqual([made.status, made.description, made.input_fields], ['active', 'Once.', []])
    const found = await getAutomation(
      { params: { automation_id: made.id }, query: {}, body: {} },
      contextOf(test.db, home.organizationId),
    )
    assert.deepEqual(found, made)
  })

  it('refuses agents that are unknown, of another organization, or archived', async () => {
    const archived = await createCallingOrganization(test.db)
    await execute(test.db, 'update agents set archived_at = now() where id = $1', [
      archived.agentId,
    ])
    const cases = [
      [home, newId(), 'There is no agent of this id.'],
      [home, 'no-id', 'There is no agent of this id.'],
      [home, stranger.agentId, 'There is no agent of this id.'],
      [archived, archived.agentId, 'This agent is not published, or is archived.'],
    ] as const
    for (const [{ organizationId }, agentId, message] of cases) {
      await assert.rejects(
        publishAutomation(test.db, organizationId, fileOf({ agentId })),
        (error) => {
          assert.ok(error instanceof InvalidFileError)
          assert.deepEqual(error.problems, [{ path: 'definition.steps.call.agent_id', message }])
          return true
        },
      )
    }
  })

  it('tells a wrong agent beside everything else that is wrong', async () => {
    const call = { type: 'call', agent_id: newId(), next: 'gone' }
    const wait = { type: 'wait', for: 'soon', next: 'call' }
    const definition = { entry: 'wait', steps: { wait, call } }
    await assert.rejects(
      publishAutomation(test.db, home.organizationId, { name: 'Broken', definition }),
      (error) => {
        assert.ok(error instanceof InvalidFileError)
        assert.deepEqual(
          error.problems.map(({ path }) => path),
          ['wait.for', 'call.next', 'call.agent_id'].map((path) => `definition.steps.${path}`),
        )
        return true
      },
    )
  })

  it('adds a version and leaves the ones before as they were', async () => {
    const made = await publish()
    const { organizationId } = home
    const again = await publishAutomation(test.db, organizationId, fileOf(home, 'Renamed'), {
      automationId: made.id,
    })
    assert.deepEqual([again.id, again.name], [made.id, 'Renamed'])
    assert.equal((await showAutomation(test.db, made.id)).version, 2)
    const versions = await execute(
      test.db,
      'select version, definition from automation_versions where automation_id = $1 order by 1',
      [made.id],
    )
    const { definition } = fileOf(home)
    assert.deepEqual(versions, [
      { version: 1, definition },
      { version: 2, definition },
    ])
  })

  it('adds no version to an Automation of another organization, or an archived one', async () => {
    const made = await publish()
    const options = { automationId: made.id }
    await assert.rejects(
      publishAutomation(test.db, stranger.organizationId, fileOf(stranger), options),
      OperatorError,
    )
    await setTo(made.id, 'archived')
    await assert.rejects(
      publishAutomation(test.db, home.organizationId, fileOf(home), options),
      OperatorError,
    )
  })
})

describe('the status of an Automation', () => {
  const moves = {
    draft: { active: true, paused: false, archived: true },
    active: { active: true, paused: true, archived: true },
    paused: { active: true, paused: true, archived: true },
    archived: { active: false, paused: false, archived: true },
  } as const

  for (const [from, allowed] of Object.entries(moves))
    for (const [to, isAllowed] of Object.entries(allowed))
      it(`${isAllowed ? 'may go' : 'may not go'} from ${from} to ${to}`, async () => {
        const { id } = await publish()
        await execute(test.db, 'update automations set status = $2 where id = $1', [id, from])
        const change = setTo(id, to as keyof typeof allowed)
        if (isAllowed) assert.equal((await change).status, to)
        else await assert.rejects(change, OperatorError)
      })

  it('is what GET /automations filters by, and an unknown one matches nothing', async () => {
    const other = await createCallingOrganization(test.db)
    const [first, second] = [await publish(other, 'First'), await publish(other, 'Second')]
    await setTo(first.id, 'paused')
    const ids = async (query: { status?: string }) => (await list(query, other)).map(({ id }) => id)
    assert.deepEqual(await ids({}), [second.id, first.id])
    assert.deepEqual(await ids({ status: 'active' }), [second.id])
    assert.deepEqual(await ids({ status: 'paused' }), [first.id])
    assert.deepEqual(await ids({ status: 'busy' }), [])
  })

  it('has to be active for a run', async () => {
    const body = async (status: string) => {
      const { id } = await publish()
      await execute(test.db, 'update automations set status = $2 where id = $1', [id, status])
      return { automation_id: id, contact_id: home.contactId }
    }
    for (const status of ['draft', 'paused', 'archived'])
      assert.equal((await refused(create(await body(status)))).code, 'resource_state_conflict')
    assert.equal((await create(await body('active'))).status, 'queued')
  })
})

describe('creating a run', () => {
  it('queues it, answers the run of the contract, and hints after the commit', async () => {
    const { id } = await publish()
    hints.take()
    const run = await create({ automation_id: id, contact_id: home.contactId })
    assert.deepEqual(automationRun.parse(run), run)
    assert.deepEqual([run.status, run.input], ['queued', {}])
    for (const unset of ['failure_code', 'started_at', 'completed_at', 'cancelled_at'])
      assert.ok(!(unset in run), unset)
    assert.deepEqual(await getRun(run.id), run)
    assert.deepEqual(hints.takeChannels(), ['outdial_runs'])
  })

  it('names the unknown id in a 404', async () => {
    const { id } = await publish()
    const cases = [
      [{ automation_id: newId(), contact_id: home.contactId }, 'automation_id'],
      [{ automation_id: 'none', contact_id: home.contactId }, 'automation_id'],
      [{ automation_id: id, contact_id: newId() }, 'contact_id'],
      [{ automation_id: id, contact_id: stranger.contactId }, 'contact_id'],
    ] as const
    for (const [body, path] of cases) {
      const error = await refused(create(body))
      assert.equal(error.code, 'resource_not_found')
      assert.deepEqual(error.details?.fields, [{ path, code: 'not_found' }])
    }
  })

  it('refuses a second active run of the contact and names the first, until that has ended', async () => {
    const body = { automation_id: (await publish()).id, contact_id: home.contactId }
    const first = await create(body)
    for (const status of ['queued', 'running', 'waiting']) {
      await execute(test.db, 'update automation_runs set status = $2 where id = $1', [
        first.id,
        status,
      ])
      const error = await refused(create(body))
      assert.equal(error.code, 'duplicate_active_run')
      assert.deepEqual(error.details, { existing_run_id: first.id })
    }
    await cancel(first.id)
    assert.notEqual((await create(body)).id, first.id)
  })

  it('makes one run of twenty concurrent requests', async () => {
    const body = { automation_id: (await publish()).id, contact_id: home.contactId }
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => create(body)))
    const made = results.filter((result) => result.status === 'fulfilled')
    assert.equal(made.length, 1)
    for (const result of results)
      if (result.status === 'rejected') {
        assert.ok(result.reason instanceof ApiError, String(result.reason))
        assert.deepEqual(result.reason.details, { existing_run_id: made[0]?.value.id })
      }
  })

  it('refuses a destination that is not allowed, and a number on the do-not-call list', async () => {
    const abroad = await createCallingOrganization(test.db, {
      policy: defaultPolicy,
      phoneNumber: '+442071838750',
    })
    const { id } = await publish(abroad)
    const first = await refused(create({ automation_id: id, contact_id: abroad.contactId }, abroad))
    assert.equal(first.code, 'unsupported_destination')
    const blocked = await createCallingOrganization(test.db)
    await addDoNotCall(test.db, blocked.organizationId, blocked.phoneNumber)
    const body = { automation_id: (await publish(blocked)).id, contact_id: blocked.contactId }
    assert.equal((await refused(create(body, blocked))).code, 'recipient_blocked_by_policy')
  })
})

describe('input', () => {
  const fields = (input: unknown) => {
    const body = { automation_id: 'a', contact_id: 'c', input }
    const result = automationRunInput.safeParse(body)
    return result.error?.issues.map(({ code, message, path }) =>
      // The code stands before the sentence that says the rule.
      code === 'custom' ? [message.split(':')[0], path] : [code, path],
    )
  }

  it('is an empty object where it is omitted', () => {
    assert.deepEqual(automationRunInput.parse({ automation_id: 'a', contact_id: 'c' }).input, {})
    assert.equal(fields({}), undefined)
  })

  it('has no members yet', () => {
    assert.deepEqual(fields({ a: 1, b: 2 }), [['unrecognized_keys', ['input']]])
  })

  it('is an object', () => {
    for (const input of [null, [], 'x', 1])
      assert.deepEqual(fields(input), [['invalid_type', ['input']]])
  })

  const nested = (depth: number): object => (depth === 1 ? {} : { a: nested(depth - 1) })

  it('is at most 32 KiB and at most 10 deep, which is told beside its members', () => {
    const tooLarge = [
      ['too_large', ['input']],
      ['unrecognized_keys', ['input']],
    ]
    const sized = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) })
    assert.deepEqual(fields(sized(32 * 1024 + 1)), tooLarge)
    assert.deepEqual(fields(sized(32 * 1024)), tooLarge.slice(1))
    assert.deepEqual(fields({ a: 'é'.repeat(17_000) }), tooLarge)
    assert.deepEqual(fields(nested(11)), tooLarge)
    assert.deepEqual(fields(nested(10)), tooLarge.slice(1))
  })
})

describe('listing runs', () => {
  it('filters by every filter of the contract', async () => {
    const other = await createCallingOrganization(test.db)
    const { id } = await publish(other)
    const run = await create({ automation_id: id, contact_id: other.contactId }, other)
    const day = (offset: number): string =>
      new Date(Date.parse(run.created_at) + offset * 86_400_000).toISOString()
    const matching: Partial<RunQuery>[] = [
      {},
      { status: 'queued' },
      { automation_id: id },
      { contact_id: other.contactId },
      { created_after: day(-1), created_before: day(1) },
      { status: 'queued', automation_id: id, contact_id: other.contactId },
    ]
    for (const query of matching)
      assert.deepEqual((await listRuns(query, other)).data, [run], JSON.stringify(query))
    const missing: Partial<RunQuery>[] = [
      { status: 'failed' },
      { automation_id: newId() },
      { automation_id: 'none' },
      { contact_id: 'none' },
      { created_after: day(1) },
      { created_before: day(-1) },
    ]
    for (const query of missing)
      assert.deepEqual((await listRuns(query, other)).data, [], JSON.stringify(query))
    assert.deepEqual(Object.keys(operations.listAutomationRuns.query.shape).toSorted(), [
      'automation_id',
      'contact_id',
      'created_after',
      'created_before',
      'cursor',
      'limit',
      'status',
    ])
  })

  it('pages through every run once, newest first', async () => {
    const other = await createCallingOrganization(test.db)
    for (let made = 0; made < 5; made += 1)
      await create({ automation_id: (await publish(other)).id, contact_id: other.contactId }, other)
    const seen: string[] = []
    let next: { sort: string; id: string } | null | undefined
    do {
      const page = await listRuns({ limit: 2, ...(next && { cursor: next }) }, other)
      seen.push(...page.data.map((run) => run.created_at))
      next = page.next
    } while (next)
    assert.equal(seen.length, 5)
    assert.deepEqual(seen, seen.toSorted().toReversed())
  })
})

describe('another organization', () => {
  it('sees neither Automations nor runs, and can neither run nor cancel them', async () => {
    const { id } = await publish()
    const run = await create({ automation_id: id, contact_id: home.contactId })
    assert.ok((await list({}, stranger)).every((each) => each.id !== id))
    assert.deepEqual((await listRuns({ automation_id: id }, stranger)).data, [])
    const asked = [
      () =>
        getAutomation(
          { params: { automation_id: id }, query: {}, body: {} },
          contextOf(test.db, stranger.organizationId),
        ),
      () => getRun(run.id, stranger),
      () => cancel(run.id, stranger),
      () => create({ automation_id: id, contact_id: stranger.contactId }, stranger),
    ]
    for (const ask of asked) assert.equal((await refused(ask())).code, 'resource_not_found')
    assert.equal((await getRun(run.id)).status, 'queued')
  })

  it('is no clue about ids: unknown, foreign and malformed ones are answered alike', async () => {
    for (const id of [newId(), 'none', 'x'.repeat(255)]) {
      assert.equal((await refused(getRun(id))).code, 'resource_not_found')
      assert.equal((await refused(cancel(id))).code, 'resource_not_found')
    }
  })
})
