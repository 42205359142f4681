import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AutomationDefinition } from '../../src/domains/automations/definition.ts'
import type { JournalLine } from '../support/sandbox-carrier-process.ts'
import { judgeJournal, type CallRow } from './trial/judge-journal.ts'
import { runProblems, type MoveRow, type RunHistory } from './trial/judge-runs.ts'
import { scheduleKills } from './trial/kill-schedule.ts'
import { batchProblems } from './trial/observe.ts'
import type { BatchAnswer } from './trial/requests.ts'

const at = (ms: number): string => new Date(Date.UTC(2026, 0, 1) + ms).toISOString()

const line = (event: JournalLine['event'], call: string, attempt: string, ms: number) => ({
  event,
  call_id: call,
  sip_call_id: attempt,
  at: at(ms),
})

const endedCalls = (...ids: string[]): Map<string, CallRow> =>
  new Map(
    ids.map((id) => [
      id,
      {
        id,
        organization_id: 'org',
        status: 'completed',
        batch_id: null,
        automation_run_id: null,
        answer_status: 'busy',
        ended_at: new Date(Date.UTC(2026, 0, 1) + 1_000),
      },
    ]),
  )

const tenant = { id: 'org', concurrency: 1, key: '', agentId: '', contacts: [], automations: [] }

describe('the judge of the carrier’s journal', () => {
  const judge = (...lines: JournalLine[]) =>
    judgeJournal(lines, endedCalls('a', 'b'), [tenant]).problems

  it('accepts one dial, and another after congestion', () => {
    const lines = [
      line('invite', 'a', '1', 0),
      line('congested', 'a', '1', 1),
      line('invite', 'a', '2', 10),
      line('ringing', 'a', '2', 11),
      line('invite', 'b', '3', 1_000),
    ]
    assert.deepEqual(judge(...lines), [])
  })

  it('detects a phone that was rung twice', () => {
    const lines = [line('invite', 'a', '1', 0), line('invite', 'a', '2', 5)]
    assert.match(judge(...lines).join(), /call a was rung 2 times/)
  })

  it('detects an INVITE after the end, and one for no call', () => {
    assert.match(judge(line('invite', 'a', '1', 1_500)).join(), /500 ms after its end/)
    assert.match(judge(line('invite', 'x', '1', 0)).join(), /which is no call/)
  })

  it('detects two simultaneous calls of one organization to one number', () => {
    const to = (call: string, number: string, ms: number) => ({
      ...line('invite', call, call, ms),
      number,
    })
    assert.match(judge(to('a', '1', 0), to('b', '1', 5)).join(), /had 2 calls to 1 at once/)
    assert.doesNotMatch(judge(to('a', '1', 0), to('b', '2', 5)).join(), /had 2 calls to/)
  })

  it('detects more simultaneous calls than an organization may have', () => {
    const lines = [line('invite', 'a', '1', 0), line('invite', 'b', '2', 5)]
    assert.match(judge(...lines).join(), /2 calls of 1 at once/)
  })
})

const definition: AutomationDefinition = {
  entry: 'call',
  steps: {
    call: {
      type: 'call',
      agent_id: 'agent',
      next: 'wait',
      retry: { max_attempts: 2, delays: ['PT1S'], on: ['busy'] },
    },
    wait: { type: 'wait', for: 'PT1S', next: 'done' },
    done: { type: 'end', result: 'completed' },
  },
}

const moves: readonly Partial<MoveRow>[] = [
  { move: 'start', step: 'call' },
  { move: 'call', step: 'call', attempt: 1, call_id: 'a' },
  { move: 'retry_delay', step: 'call', until: new Date(3_000) },
  { move: 'call', step: 'call', attempt: 2, call_id: 'b' },
  { move: 'move', step: 'wait' },
  { move: 'wait_step', step: 'wait', until: new Date(6_000) },
  { move: 'move', step: 'done' },
  { move: 'complete', step: 'done' },
]

const history = (
  rows: readonly Partial<MoveRow>[],
  more: Partial<RunHistory> = {},
): RunHistory => ({
  id: 'run',
  status: 'completed',
  sequence: rows.length,
  isDue: false,
  definition,
  moves: rows.map((row, index) => ({
    sequence: index + 1,
    step: null,
    move: '',
    attempt: null,
    call_id: null,
    until: null,
    at: new Date(index * 1_000),
    ...row,
  })),
  calls: new Map([
    ['a', { answer_status: 'busy' }],
    ['b', { answer_status: 'busy' }],
  ]),
  ...more,
})

describe('the judge of Automation runs', () => {
  const without = (index: number) => moves.toSpliced(index, 1)

  it('accepts a run that followed its definition', () => {
    assert.deepEqual(runProblems(history(moves)), [])
  })

  it('detects any missing move', () => {
    for (let index = 0; index < moves.length; index += 1)
      assert.notDeepEqual(runProblems(history(without(index))), [], `without move ${index + 1}`)
  })

  it('detects any repeated move', () => {
    for (const [index, move] of moves.entries()) {
      // A delay that wakes early continues: the only move that may be recorded twice.
      if (move.move === 'retry_delay' || move.move === 'wait_step') continue
      const rows = moves.toSpliced(index, 0, move)
      assert.notDeepEqual(runProblems(history(rows)), [], `move ${index + 1} twice`)
    }
  })

  it('detects a wait that was cut short, a gap in the numbers, and a call that was never placed', () => {
    const early = moves.with(5, { ...moves[5], until: new Date(9_000) })
    assert.match(runProblems(history(early)).join(), /its wait was not over/)
    assert.match(runProblems(history(moves, { sequence: 9 })).join(), /counts 9 moves/)
    const calls = new Map([...history(moves).calls, ['c', { answer_status: null }] as const])
    assert.match(runProblems(history(moves, { calls })).join(), /no move placed its call c/)
  })

  it('detects a run that nothing will wake', () => {
    const rows = moves.slice(0, 2)
    assert.match(runProblems(history(rows, { status: 'running' })).join(), /nothing will wake it/)
  })
})

describe('the judge of batches', () => {
  const batch: BatchAnswer = {
    id: 'batch',
    status: 'in_progress',
    total_recipients: 3,
    pending_recipients: 0,
    queued_recipients: 1,
    in_progress_recipients: 0,
    completed_recipients: 2,
    failed_recipients: 0,
    cancelled_recipients: 0,
    answered_recipients: 1,
    no_answer_recipients: 0,
    busy_recipients: 1,
  }

  it('detects counters that do not sum up, count too many answers, or go back', () => {
    assert.deepEqual(batchProblems(batch, undefined), [])
    assert.match(batchProblems({ ...batch, queued_recipients: 0 }, undefined).join(), /2 of 3/)
    assert.match(batchProblems({ ...batch, busy_recipients: 2 }, undefined).join(), /3 answers/)
    const less = { ...batch, completed_recipients: 1, queued_recipients: 2, busy_recipients: 0 }
    assert.match(batchProblems(less, batch).join(), /had 2 recipients at their end, then 1/)
    const ended = { ...batch, status: 'cancelled' }
    assert.match(batchProblems(batch, ended).join(), /became in_progress/)
  })
})

describe('the schedule of kills', () => {
  it('is the same for one seed, and different for another', () => {
    assert.deepEqual(scheduleKills(3, 50), scheduleKills(3, 50))
    assert.notDeepEqual(scheduleKills(3, 50), scheduleKills(4, 50))
  })
})
