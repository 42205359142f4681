import { Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { atLeast } from '../../../src/contract/roles.ts'
import { reading, useChange } from '../client/queries.ts'
import { useMay } from '../client/session.ts'
import type { AnswerOf } from '../client/table.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { CopyText } from '../parts/copy-text.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { formatLength, Instant } from '../parts/instant.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded } from '../parts/states.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { WaitReasons } from '../parts/wait-reasons.tsx'

type Call = AnswerOf<'getCall'>
type Decision = Call['decisions'][number]

/** A call that goes on is asked for again. */
const refreshMs = 2_000
const finalStatuses = new Set<string>(['completed', 'failed', 'cancelled'])

export const CallPage = () => {
  const { callId } = useParams({ from: '/shell/calls/$callId' })
  const result = useQuery({
    ...reading('getCall', { params: { call_id: callId } }),
    refetchInterval: ({ state }) =>
      state.data && finalStatuses.has(state.data.status) ? false : refreshMs,
  })
  return <Loaded result={result}>{(call) => <Detail call={call} />}</Loaded>
}

const Detail = ({ call }: { call: Call }) => (
  <Page
    title={call.contact_name ?? 'Call'}
    purpose={[call.phone_number, call.agent_name, `from ${call.origin}`]
      .filter(Boolean)
      .join(' · ')}
    actions={<CallActions call={call} />}
  >
    <Group gap="xs">
      <StatusBadge status={call.status} />
      {call.answer_status && <StatusBadge status={call.answer_status} />}
      <Text size="sm">
        Queued <Instant at={call.queued_at} />
        {call.duration_seconds !== undefined && `, ${formatLength(call.duration_seconds)} long`}
      </Text>
    </Group>
    <WaitReasons reasons={call.reasons} />
    {call.summary && (
      <Stack component="section" aria-labelledby="summary" gap="xs">
        <Title order={2} size="h4" id="summary">
          Summary
        </Title>
        <Text size="sm">{call.summary}</Text>
      </Stack>
    )}
    {call.turns.length > 0 && <Transcript turns={call.turns} />}
    {call.decisions.length > 0 && (
      <Stack component="section" aria-labelledby="decisions" gap="xs">
        <Title order={2} size="h4" id="decisions">
          What was decided
        </Title>
        <DataTable
          label="Decisions"
          columns={decisionColumns}
          rows={call.decisions}
          keyOf={({ at, decision }) => `${at} ${decision}`}
        />
      </Stack>
    )}
  </Page>
)

const CallActions = ({ call }: { call: Call }) => {
  const cancel = useChange('cancelCall')
  const mayCancel = useMay(atLeast('operator'))
  return (
    <>
      <CopyText value={call.id} what="call id" isHidden />
      {!finalStatuses.has(call.status) && (
        <ConfirmButton
          label="Cancel"
          accessibleName="Cancel the call"
          consequence="A waiting call is not dialled any more; a live one is hung up."
          disabledBecause={mayCancel ? undefined : 'For operators and administrators.'}
          onConfirm={() => cancel.mutateAsync({ params: { call_id: call.id } })}
        />
      )}
    </>
  )
}

const Transcript = ({ turns }: { turns: Call['turns'] }) => (
  <Stack component="section" aria-labelledby="transcript" gap="xs">
    <Title order={2} size="h4" id="transcript">
      Transcript
    </Title>
    <Stack component="ol" gap="xs" className="transcript">
      {turns.map(({ sequence, speaker, text, audio_offset_ms: offsetMs }) => (
        <li key={sequence}>
          <Text size="xs" fw={600}>
            {speaker} · {formatLength(offsetMs / 1000)}
          </Text>
          <Text size="sm">{text}</Text>
        </li>
      ))}
    </Stack>
  </Stack>
)

const decisionColumns: readonly Column<Decision>[] = [
  { name: 'When', cell: ({ at }) => <Instant at={at} /> },
  { name: 'Decision', cell: ({ decision }) => decision.replaceAll('_', ' ') },
  { name: 'Reason', cell: ({ reason }) => reason?.replaceAll('_', ' ') ?? '–' },
  { name: 'Until', cell: ({ until }) => <Instant at={until} /> },
]
