import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { fc } from '../../../tests/support/properties.ts'
import {
  callsOf,
  createAutomation,
  dialCall,
  endLiveCall,
  startRun,
} from '../../../tests/support/automation-fixture.ts'
import { createCallingOrganization, execute } from '../../../tests/support/queue-fixtures.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts'
import type { AutomationDefinition, Step } from '../../domains/automations/definition.ts'
import { outlineOf } from '../../domains/automations/definition-outline.ts'
import { definitionProblems } from '../../domains/automations/definition-problems.ts'
import { wakeRunsOfCalls } from '../../domains/automations/wake-run.ts'
import type { CallingPolicy } from '../../domains/organizations/calling-policy.ts'
import { silentLogger } from '../../runtime/logger.ts'
import { createRunnerTurn } from './runner.ts'
import { simulate, type Simulation } from '../../domains/automations/stepping/simulate.ts'
import {
  parseAnswer,
  type SimulatedAnswer,
} from '../../domains/automations/stepping/simulated-answers.ts'
import { createEndCall } from '../../domains/calls/lifecycle/end-call.ts'

let database: TestDatabase

before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

const answerOf = (text: string): SimulatedAnswer => parseAnswer(text) ?? assert.fail(text)

// At least one, which an array's type does not state.
const answers = fc.array(
  fc
    .constantFrom(
      'no_answer',
      'busy',
      'voicemail',
      'failed',
      'cancelled',
      'answered',
      'answered:achieved',
    )
    .map(answerOf),
  { minLength: 1, maxLength: 8 },
) as unknown as fc.Arbitrary<Simulation['answers']>

const names = ['a', 'b', 'c', 'd', 'e'] as const
const name = fc.constantFrom(...names)
const duration = fc.constantFrom('PT1M', 'PT30M', 'PT4H', 'P1D', 'P3D')
const onAnswers = fc.uniqueArray(fc.constantFrom('no_answer', 'busy', 'voicemail', 'unknown'), {
  minLength: 1,
  maxLength: 3,
})

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    type: fc.constant('call'),
    agent_id: fc.constant('AGENT'),
    next: name,
    retry: fc.record({
      max_attempts: fc.integer({ min: 1, max: 4 }),
      delays: fc.array(duration, { minLength: 1, maxLength: 3 }),
      on: onAnswers,
    }),
  }),
  fc.record({
    type: fc.constant('wait'),
    for: duration,
    until_local_time: fc.constantFrom('02:30', '10:00', '23:15'),
    next: name,
  }),
  fc.record({
    type: fc.constant('wait'),
    until_local_time: fc.constantFrom('01:30', '09:00'),
    next: name,
  }),
  fc.record({
    type: fc.constant('branch'),
    cases: fc.array(
      fc.record({
        when: fc.oneof(
          fc.record({ outcome: fc.constant(['achieved']) }),
          fc.record({ answer_status: onAnswers }),
        ),
        next: name,
      }),
      { minLength: 1, maxLength: 2 },
    ),
    otherwise: name,
  }),
) as fc.Arbitrary<Step>

/** Five steps and two ends, combined at random; only publishable definitions. */
const definition: fc.Arbitrary<AutomationDefinition> = fc
  .record({ a: step, b: step, c: step, d: step, result: fc.constantFrom('completed', 'failed') })
  .map(({ result, ...steps }) => ({
    entry: 'a',
    steps: prune({
      ...steps,
      e: { type: 'end', result },
    } as AutomationDefinition['steps']),
  }))
  .filter((made) => definitionProblems(outlineOf(made)).length === 0)

/** Unreachable steps are omitted. */
const prune = (steps: AutomationDefinition['steps']): AutomationDefinition['steps'] => {
  const unreachable = definitionProblems(outlineOf({ entry: 'a', steps }))
    .filter(({ message }) => message.startsWith('No way'))
    .map(({ path }) => path.split('.').at(-1))
  return Object.fromEntries(Object.entries(steps).filter(([key]) => !unreachable.includes(key)))
}

const weekdays = ['monday', 'tuesday', 'wednesday', 'friday', 'sunday'] as const
const policy: CallingPolicy = {
  timeZone: 'America/New_York',
  windows: [{ weekdays, startTime: '09:30', endTime: '20:00' }],
  holidays: [{ date: '2031-03-07' }, { date: '2020-07-02', everyYear: true }],
  allowedCountries: 'all',
}

/** Around both clock changes of New York. */
const start = fc.constantFrom(
  '2031-03-07T15:00:00Z',
  '2031-03-09T06:10:00Z',
  '2031-07-01T23:59:30Z',
  '2031-10-31T13:00:00Z',
  '2031-11-02T05:15:00Z',
)

const isShort = (run: { moves: readonly unknown[] }): boolean => run.moves.length <= 60

test('the simulator agrees with the runner: same moves, same steps, same instants', async () => {
  const compared: string[] = []
  await fc.assert(
    fc.asyncProperty(definition, answers, start, async (made, given, at) => {
      const simulation = {
        definition: made,
        answers: given,
        startMs: Date.parse(at),
        policy,
        contact,
      }
      const simulated = simulate(simulation)
      fc.pre(isShort(simulated))
      assert.deepEqual(await runForReal(simulation), simulated.moves.map(described))
      compared.push(...simulated.moves.map((move) => described(move)[0]))
    }),
    { numRuns: 150, seed: 20_310_303, endOnFailure: true },
  )
  // The runs must be long enough and reach every kind of move, or the test proves nothing.
  assert.ok(compared.length > 600, `only ${compared.length} moves were compared`)
  for (const move of [
    'start',
    'call',
    'retry_delay',
    'wait_step',
    'calling_hours',
    'move',
    'complete',
    'fail',
  ])
    assert.ok(compared.includes(move), `no ${move}`)
})

const contact = {
  name: 'Test',
  phone_number: '+12125550100',
  external_id: '',
  source: 'manual_dial',
  email: '',
  company: '',
  role: '',
  city: '',
  country: '',
}

type Described = readonly [move: string, step: string | null, at: string, until: string]

const described = ({
  atMs,
  step: at,
  effect,
}: ReturnType<typeof simulate>['moves'][number]): Described => {
  const where = effect.kind === 'start' ? effect.step : effect.kind === 'move' ? effect.to : at
  const untilMs =
    effect.kind === 'sleep' ? effect.dueMs : effect.kind === 'hold' ? effect.lookMs : null
  return [
    effect.kind === 'sleep' || effect.kind === 'hold' ? effect.because : effect.kind,
    where,
    new Date(atMs).toISOString(),
    untilMs === null ? '' : new Date(untilMs).toISOString(),
  ]
}

/** The same run over PostgreSQL, with manual call ends and a manual clock. */
const runForReal = async ({
  definition: made,
  answers: given,
  startMs,
}: Simulation): Promise<Described[]> => {
  const { db } = database
  const organization = await createCallingOrganization(db, {
    policy,
    phoneNumber: contact.phone_number,
  })
  const steps = JSON.parse(JSON.stringify(made.steps).replaceAll('AGENT', organization.agentId))
  const automationId = await createAutomation(db, organization, { ...made, steps })
  const runId = await startRun(db, organization, automationId)
  let nowMs = startMs
  const turn = createRunnerTurn({
    database: db,
    endCall: createEndCall([wakeRunsOfCalls]),
    logger: silentLogger,
    now: () => new Date(nowMs),
  })
  for (let turns = 0; turns < 400; turns += 1) {
    await turn()
    const calls = await callsOf(db, runId)
    const call = calls.at(-1)
    if (call?.status === 'queued') {
      const answer = given[Math.min(calls.length, given.length) - 1] ?? given[0]
      const lease = await dialCall(db, call.id)
      nowMs += answer.lastsMs
      const outcome = answer.outcome ?? undefined
      await endLiveCall(db, organization, call.id, lease, { ...answer, outcome })
      continue
    }
    const wakeAt = await nextWake(runId)
    if (wakeAt === undefined) break
    nowMs = Math.max(nowMs, wakeAt)
  }
  return movesOfRun(runId)
}

const nextWake = async (runId: string): Promise<number | undefined> => {
  const [run] = await execute<{ wake_at: Date | null }>(
    database.db,
    'select wake_at from automation_runs where id = $1',
    [runId],
  )
  return run?.wake_at?.getTime()
}

const movesOfRun = async (runId: string): Promise<Described[]> =>
  (
    await execute<{ move: string; step: string | null; at: Date; until: Date | null }>(
      database.db,
      'select move, step, at, until from automation_run_moves where run_id = $1 order by sequence',
      [runId],
    )
  ).map(({ move, step: where, at, until }) => [
    move,
    where,
    at.toISOString(),
    until?.toISOString() ?? '',
  ])
