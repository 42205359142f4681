import { Code, Group, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import type { AnswerOf } from '../client/table.ts'
import { AnchorLink } from '../parts/anchor-link.tsx'
import { CopyText } from '../parts/copy-text.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { Instant } from '../parts/instant.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'

type Call = AnswerOf<'getCall'>

const Section = ({ id, title, children }: { id: string; title: string; children: ReactNode }) => (
  <Stack component="section" aria-labelledby={id} gap="xs">
    <Title order={2} size="h4" id={id}>
      {title}
    </Title>
    {children}
  </Stack>
)

export const CallSummary = ({ call }: { call: Call }) => {
  const head = call.results.find(({ kind }) => kind === 'summary')
  if (!head && !call.summary) return null
  return (
    <Section id="summary" title="Summary">
      <Text size="sm">
        {call.summary ?? `There is none: ${head?.reason?.replaceAll('_', ' ') ?? head?.status}.`}
      </Text>
      {head && head.revision > 1 && <Text size="xs">Revision {head.revision}.</Text>}
    </Section>
  )
}

/** When it happened, what was decided, how fast it replied, what it used: all that is known besides the words. */
export const CallFacts = ({ call }: { call: Call }) => (
  <>
    {call.decisions.length > 0 && (
      <Section id="decisions" title="What was decided">
        <DataTable
          label="Decisions"
          columns={decisionColumns}
          rows={call.decisions}
          keyOf={({ at, decision }) => `${at} ${decision}`}
        />
      </Section>
    )}
    {call.latencies.length > 0 && (
      <Section id="latency" title="Latency of each reply">
        <DataTable
          label="Latency of each reply"
          columns={latencyColumns}
          rows={call.latencies}
          keyOf={(latency) => String(latency['audio_offset_ms'])}
        />
      </Section>
    )}
    {call.quality.length > 0 && (
      <Section id="quality" title="Quality of the line">
        <DataTable
          label="Quality of the line"
          columns={qualityColumns}
          rows={call.quality}
          keyOf={({ direction }) => direction}
        />
      </Section>
    )}
    {call.results.length > 0 && (
      <Section id="results" title="Results">
        <DataTable
          label="Results"
          columns={resultColumns}
          rows={call.results}
          keyOf={({ kind }) => kind}
        />
      </Section>
    )}
    {call.usage.length > 0 && (
      <Section id="usage" title="Usage and cost">
        <DataTable
          label="Usage"
          columns={usageColumns}
          rows={call.usage}
          keyOf={(usage) => String(usage['purpose'])}
        />
      </Section>
    )}
    {call.made_by && (
      <Section id="made-by" title="The request that made it">
        <Text size="sm">
          <AnchorLink to="/developers/requests/$requestId" params={{ requestId: call.made_by.id }}>
            {call.made_by.method} {call.made_by.path}
          </AnchorLink>{' '}
          {call.made_by.target?.type !== 'call' &&
            `made its ${call.made_by.target?.type.replaceAll('_', ' ')}, `}
          <Instant at={call.made_by.at} />
        </Text>
      </Section>
    )}
    <Section id="request" title="The same call by the API">
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <Code block component="pre" className="command">
          {requestOf(call)}
        </Code>
        <CopyText value={requestOf(call)} what="request" isHidden />
      </Group>
    </Section>
  </>
)

const requestOf = ({ agent_id: agentId, contact_id: contactId }: Call): string =>
  `curl -X POST "$OUTDIAL_API/calls" -H "Authorization: Bearer $OUTDIAL_KEY" \\
  -H "Idempotency-Key: $(uuidgen)" -H "Content-Type: application/json" \\
  -d '${JSON.stringify({ agent_id: agentId, contact_id: contactId })}'`

const decisionColumns: readonly Column<Call['decisions'][number]>[] = [
  { name: 'When', cell: ({ at }) => <Instant at={at} /> },
  { name: 'Decision', cell: ({ decision }) => decision.replaceAll('_', ' ') },
  { name: 'Reason', cell: ({ reason }) => reason?.replaceAll('_', ' ') ?? '–' },
  { name: 'Until', cell: ({ until }) => <Instant at={until} /> },
]

const milliseconds = (name: string, member: string): Column<Call['latencies'][number]> => ({
  name,
  cell: (latency) => {
    const value = latency[member]
    return value === null || value === undefined ? '–' : `${value} ms`
  },
})

const latencyColumns: readonly Column<Call['latencies'][number]>[] = [
  {
    name: 'At',
    cell: (latency) => `${((latency['audio_offset_ms'] ?? 0) / 1000).toFixed(1)} s`,
  },
  milliseconds('End of speech', 'endpointing_ms'),
  milliseconds('Transcription', 'transcription_ms'),
  milliseconds('Model', 'model_ms'),
  milliseconds('Speech', 'speech_ms'),
  milliseconds('Outdial', 'own_ms'),
  milliseconds('In all', 'total_ms'),
]

const figure = (value: number | null, unit = ''): string =>
  value === null ? '–' : `${value}${unit}`

const qualityColumns: readonly Column<Call['quality'][number]>[] = [
  {
    name: 'Audio',
    cell: ({ direction }) => (direction === 'from_callee' ? 'from the callee' : 'to the callee'),
  },
  { name: 'MOS', cell: ({ mos }) => figure(mos) },
  { name: 'Packets', cell: ({ packets }) => packets },
  { name: 'Lost', cell: (each) => figure(each.packets_lost) },
  { name: 'Late', cell: (each) => figure(each.packets_late) },
  { name: 'Concealed', cell: (each) => figure(each.concealed) },
  { name: 'Jitter', cell: (each) => figure(each.jitter_ms, ' ms') },
  { name: 'Wait', cell: (each) => figure(each.delay_ms, ' ms') },
  { name: 'Round trip', cell: (each) => figure(each.round_trip_ms, ' ms') },
]

const resultColumns: readonly Column<Call['results'][number]>[] = [
  { name: 'Result', cell: ({ kind }) => kind },
  { name: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { name: 'Reason', cell: ({ reason }) => reason?.replaceAll('_', ' ') ?? '–' },
  { name: 'Revision', cell: ({ revision }) => revision },
  { name: 'Tries', cell: ({ attempts }) => attempts },
]

const usageColumns: readonly Column<Call['usage'][number]>[] = [
  { name: 'For', cell: (usage) => usage['purpose'] },
  { name: 'Engine', cell: (usage) => usage['engine'] },
  { name: 'Model', cell: (usage) => usage['model'] ?? '–' },
  { name: 'Tokens in', cell: (usage) => usage['input_tokens'] ?? '–' },
  { name: 'Tokens out', cell: (usage) => usage['output_tokens'] ?? '–' },
  {
    name: 'Cost',
    cell: ({ cost_microusd: cost }) =>
      typeof cost === 'number' ? `$${(cost / 1_000_000).toFixed(4)}` : 'no price set',
  },
]
