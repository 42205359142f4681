import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { test } from 'node:test'
import { hostileText, isHarmless } from '../../../tests/support/hostile-text.ts'
import { fc } from '../../../tests/support/properties.ts'
import { readConfig } from '../../config/read-config.ts'
import { OperatorError } from '../../domains/organizations/operator-error.ts'
import { batchBar, batchBars } from '../batch/batch-bar.ts'
import { describeProblems } from '../../domains/contacts/file/row-problems.ts'
import type { CliContext } from '../cli-context.ts'
import { describeCall, describeExplanation, type ShownCall } from '../call/describe-call.ts'
import { createPainter, facts, hanging, show, tell, tellJson, warn, type Lines } from './output.ts'
import { runCli, type CommandGroup } from '../run-cli.ts'
import { table } from './table.ts'
import { widthOf } from './text-width.ts'

const open = (terminal: Pick<CliContext, 'terminalWidth' | 'hasColour'> = {}) => {
  const printed: string[] = []
  const keep = (text: string): void => void printed.push(text)
  const context: CliContext = {
    config: readConfig({}),
    withDatabase: () => assert.fail('The database was opened.'),
    print: keep,
    warn: keep,
    isTerminal: terminal.terminalWidth !== undefined,
    ...terminal,
  }
  return { context, printed }
}

/** A call whose every text is hostile. */
const callOf = (text: string): ShownCall =>
  ({
    id: 'an-id',
    organization_id: 'an-id',
    origin: text,
    status: 'completed',
    answer_status: 'answered',
    outcome: text,
    outcome_reason: text,
    queued_at: '2026-11-22T10:59:17.913Z',
    contact_name: text,
    phone_number: text,
    agent_name: text,
    reasons: [{ code: 'capacity', message: text }],
    turns: [{ sequence: 0, speaker: 'contact', text, audio_offset_ms: 20 }],
    results: [{ kind: 'summary', status: 'ready', reason: text, revision: 1, summary: text }],
    usage: [{ purpose: text, model: text, engine: text, provider: text, input_tokens: 1 }],
    latencies: [],
    quality: [],
  }) as unknown as ShownCall

const explanationOf = (text: string) =>
  ({
    status: 'queued',
    attempt: 1,
    reasons: [{ code: 'capacity', message: text }],
    decisions: [{ at: '2026-11-22T10:59:17.913Z', decision: text, reason: text }],
  }) as unknown as Parameters<typeof describeExplanation>[0]

/** Every printer of lines, given a foreign text. */
const printers: Readonly<Record<string, (text: string, width?: number) => string | Lines>> = {
  sentence: (text) => `The name is ${text}.`,
  table: (text, width) =>
    table(
      ['ID', 'NAME', 'TEXT'],
      [
        ['1', text, text],
        ['2', text, ''],
      ],
      '',
      width,
    ),
  facts: (text, width) =>
    facts(
      [
        ['name', text],
        [text, { style: 'good', text }],
      ],
      width,
    ),
  turn: (text, width) => hanging(' 0:01  contact  ', text, width),
  call: (text, width) => describeCall(callOf(text), width),
  explanation: (text, width) => describeExplanation(explanationOf(text), width),
  problems: (text) =>
    describeProblems([{ row: 1, column: text, code: 'unknown_field', message: 'No.' }]),
}

for (const [name, printer] of Object.entries(printers))
  test(`no foreign text leaves its line: ${name}`, () =>
    fc.assert(
      fc.property(hostileText, fc.constantFrom(undefined, 30, 80, 140), (text, width) => {
        const { context, printed } = open({ terminalWidth: width })
        const lines = printer(text, width)
        show(context, {}, undefined, () => lines)
        const rows = printed.join('\n').split('\n')
        assert.equal(rows.length, typeof lines === 'string' ? 1 : lines.length)
        for (const row of rows) assert.ok(isHarmless(row), JSON.stringify(row))
      }),
    ))

test('no foreign text moves the cursor or sets a colour', () =>
  fc.assert(
    fc.property(hostileText, (text) => {
      const { context, printed } = open({ terminalWidth: 80, hasColour: true })
      const paint = createPainter(context)
      for (const frame of [0, 1]) paint([[{ style: 'bad', text }, `${frame}${text}`], text])
      for (const frame of printed) {
        // The painter's own additions, each once at most, and nothing else.
        const rest = ['\u001b[2A\u001b[J', '\u001b[31m', '\u001b[39m'].reduce(
          (left, own) => left.replace(own, ''),
          frame,
        )
        for (const row of rest.split('\n')) assert.ok(isHarmless(row), JSON.stringify(row))
      }
    }),
  ))

test('JSON is escaped without changing its meaning', () =>
  fc.assert(
    fc.property(hostileText, (text) => {
      const { context, printed } = open()
      show(context, { json: true }, { text }, () => '')
      tellJson(context, { text })
      for (const document of printed) {
        for (const row of document.split('\n')) assert.ok(isHarmless(row), JSON.stringify(row))
        assert.deepEqual(JSON.parse(document), { text })
      }
    }),
  ))

test('an error is printed in one line, and a list of problems in a line for each', () =>
  fc.assert(
    fc.asyncProperty(hostileText, async (text) => {
      const faults = [new Error(text), new OperatorError([text, text])]
      for (const [index, fault] of faults.entries()) {
        const { context, printed } = open()
        const group: CommandGroup = (program) => {
          program.command('fail').action(() => {
            throw fault
          })
        }
        assert.equal(await runCli(['fail'], [group], context), 1)
        const rows = printed.join('\n').split('\n')
        assert.equal(rows.length, index + 1)
        for (const row of rows) assert.ok(isHarmless(row), JSON.stringify(row))
      }
    }),
  ))

test('colours appear only on a terminal that supports them, and never in JSON or a pipe', () => {
  const lines: Lines = [[{ style: 'good', text: 'ok' }, ' then']]
  const told = (terminal: Parameters<typeof open>[0]): string => {
    const { context, printed } = open(terminal)
    tell(context, lines)
    return printed.join('')
  }
  assert.equal(told({ hasColour: true }), '\u001b[32mok\u001b[39m then')
  assert.equal(told({ hasColour: false }), 'ok then')
  assert.equal(told({}), 'ok then')
  const { context, printed } = open({ hasColour: true })
  warn(context, lines)
  assert.deepEqual(printed, ['ok then'])
})

const batch = {
  status: 'in_progress',
  total_recipients: 12_345,
  pending_recipients: 9_000,
  queued_recipients: 345,
  in_progress_recipients: 100,
  completed_recipients: 2_500,
  failed_recipients: 300,
  cancelled_recipients: 100,
  answered_recipients: 1_500,
  no_answer_recipients: 500,
  busy_recipients: 300,
}

test('bars never exceed the width of the terminal, and overwrite themselves', () => {
  for (const width of [40, 60, 80, 100, 140]) {
    const { context, printed } = open({ terminalWidth: width })
    const paint = createPainter(context)
    const bars = batchBars([batch, batch] as unknown as Parameters<typeof batchBars>[0], width)
    paint(bars)
    paint(bars)
    const [first = '', second = ''] = printed
    assert.equal(second, `\u001b[${bars.length}A\u001b[J${first}`)
    for (const row of stripVTControlCharacters(second).split('\n'))
      assert.ok(widthOf(row) <= width, `${width}: ${row}`)
  }
  assert.equal(batchBar({ ...batch, busy_recipients: 0, cancelled_recipients: 0 }, 160).length, 1)
})

test('a narrowed terminal has more rows to overwrite', () => {
  const { context, printed } = open({ terminalWidth: 80 })
  const narrowing: { terminalWidth?: number | undefined } = context
  const paint = createPainter(context)
  paint(['x'.repeat(70)])
  narrowing.terminalWidth = 40
  paint(['y'])
  assert.equal(printed[1], '\u001b[2A\u001b[Jy')
})

test('no command prints without this module', () => {
  const commands = join(import.meta.dirname, '..')
  const files = readdirSync(commands, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.endsWith('/output.ts'),
  )
  assert.ok(files.length > 40)
  for (const file of files) {
    const text = readFileSync(join(commands, file), 'utf8')
    assert.doesNotMatch(text, /context\.(?:print|warn)\b|process\.std|console\./, file)
  }
})
