import { writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { ladderOf, titleOf } from '../../domains/calls/sip-ladder.ts'
import {
  listSipTraces,
  type SipTraceMessage,
  type StoredSipTrace,
} from '../../domains/calls/sip-trace-store.ts'
import { OperatorError } from '../../domains/organizations/operator-error.ts'
import type { CliContext } from '../cli-context.ts'
import { requireOwner, withOrganization, type OrganizationOption } from '../require-organization.ts'
import { show, type Lines, type OutputOptions } from '../terminal/output.ts'
import { pcapOf } from './pcap.ts'

interface TraceOptions extends OutputOptions, OrganizationOption {
  readonly pcap?: string
}

/** `outdial call trace`: the SIP messages of a call, as they were sent and received. */
export const addTraceCommand = (call: Command, context: CliContext): void => {
  withOrganization(
    call
      .command('trace')
      .description('the SIP messages of a call, kept for 30 days, numbers masked')
      .argument('<id>'),
    'call',
  )
    .option('--pcap <file>', 'also write them as a packet capture, for Wireshark or sngrep')
    .option('--json', 'print JSON, with the whole text of every message')
    .action(async (id: string, options: TraceOptions) => {
      const traces = await context.withDatabase(async (db) =>
        listSipTraces(db, await requireOwner(db, options, 'call', id), id),
      )
      if (options.pcap !== undefined) await writeCapture(traces, options.pcap)
      show(context, options, { id, attempts: traces.map(shownTrace) }, () => [
        ...describeTraces(traces),
        ...(options.pcap === undefined ? [] : ['', `Written to ${options.pcap}.`]),
      ])
    })
}

const writeCapture = async (traces: readonly StoredSipTrace[], file: string): Promise<void> => {
  await writeFile(file, pcapOf(traces)).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error)
    throw new OperatorError(`--pcap: ${file} cannot be written: ${reason}`)
  })
}

const shownTrace = ({ attempt, first, last, omitted }: StoredSipTrace) => ({
  attempt,
  messages: [...first, ...last].map(({ text, ...message }) => ({
    ...message,
    title: titleOf(text, true),
    text,
  })),
  omitted,
})

const describeTraces = (traces: readonly StoredSipTrace[]): Lines =>
  traces.length === 0
    ? ['There are no SIP messages of this call: it was not dialled, or longer ago than 30 days.']
    : traces.flatMap((trace, index) => [...(index === 0 ? [] : ['']), ...describeTrace(trace)])

const describeTrace = (trace: StoredSipTrace): Lines => {
  const [start] = trace.first
  const rungs = ladderOf(trace, true)
  const times = [
    ...trace.first.map((message) => offsetOf(message, start)),
    ...(trace.omitted === 0 ? [] : ['']),
    ...trace.last.map((message) => offsetOf(message, start)),
  ]
  return [
    `Attempt ${trace.attempt}${start === undefined ? '' : `, ${start.at}, ${start.local} to ${start.remote} by ${start.protocol}`}`,
    ...rungs.map((rung, index) => `${(times[index] ?? '').padStart(9)}  ${rung}`),
  ]
}

const offsetOf = ({ at }: SipTraceMessage, start: SipTraceMessage | undefined): string =>
  start === undefined ? '' : `+${((Date.parse(at) - Date.parse(start.at)) / 1000).toFixed(3)}`
