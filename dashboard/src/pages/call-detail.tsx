import { Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { reading, refreshedUntil } from '../client/queries.ts'
import type { AnswerOf } from '../client/table.ts'
import { formatLength, Instant } from '../parts/instant.tsx'
import { Page } from '../parts/page.tsx'
import { Loaded } from '../parts/states.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { WaitReasons } from '../parts/wait-reasons.tsx'
import { CallActions } from './call-actions.tsx'
import { CallAudio } from './call-audio.tsx'
import { CallFacts, CallSummary } from './call-facts.tsx'
import { RunningTranscript } from './live/running-transcript.tsx'
import { CallSignalling } from './call-signalling.tsx'
import { isSettled } from './call-state.ts'

type Call = AnswerOf<'getCall'>

/** A call that goes on is asked for again. */
const refreshMs = 2_000

export const CallPage = () => {
  const { callId } = useParams({ from: '/shell/calls/$callId' })
  const result = useQuery({
    ...reading('getCall', { params: { call_id: callId } }),
    refetchInterval: refreshedUntil(isSettled, refreshMs),
  })
  return <Loaded result={result}>{(call) => <Detail key={call.id} call={call} />}</Loaded>
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
      {call.outcome && <StatusBadge status={call.outcome} />}
      <Text size="sm">
        Queued <Instant at={call.queued_at} />
        {call.ended_at !== undefined && (
          <>
            , ended <Instant at={call.ended_at} />
          </>
        )}
        {call.duration_seconds !== undefined && `, ${formatLength(call.duration_seconds)} long`}
      </Text>
    </Group>
    {call.outcome_reason && <Text size="sm">{call.outcome_reason}</Text>}
    <WaitReasons reasons={call.reasons} />
    <CallSummary call={call} />
    {call.status === 'in_progress' ? <RunningTranscript call={call} /> : <CallAudio call={call} />}
    <CallFacts call={call} />
    {call.decisions.some(({ decision }) => decision === 'dial') && (
      <CallSignalling callId={call.id} endedAt={call.ended_at} />
    )}
  </Page>
)
