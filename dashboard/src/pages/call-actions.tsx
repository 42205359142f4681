import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { atLeast } from '../../../src/contract/roles.ts'
import { useChange } from '../client/queries.ts'
import { useMay } from '../client/session.ts'
import type { AnswerOf } from '../client/table.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { CopyText } from '../parts/copy-text.tsx'
import { isEnded } from './call-state.ts'

/** What may be done with a call; a role that may not is told why. */
export const CallActions = ({ call }: { call: AnswerOf<'getCall'> }) => {
  const cancel = useChange('cancelCall')
  const again = useChange('callAgain')
  const reprocess = useChange('reprocessCall')
  const deleteRecording = useChange('deleteCallRecording')
  const navigate = useNavigate()
  const operates = useMay(atLeast('operator')) ? undefined : 'For operators and administrators.'
  const administers = useMay(atLeast('admin')) ? undefined : 'For owners and administrators.'
  const input = { params: { call_id: call.id } }
  const isLive = call.status === 'in_progress' || call.status === 'dialing'
  return (
    <>
      <CopyText value={call.id} what="call id" isHidden />
      {!isEnded(call) && (
        <ConfirmButton
          label={isLive ? 'Hang up' : 'Cancel'}
          accessibleName={isLive ? 'Hang up the call' : 'Cancel the call'}
          consequence={
            isLive ? 'The call ends at once, for both sides.' : 'The call is not dialled any more.'
          }
          disabledBecause={operates}
          onConfirm={() => cancel.mutateAsync(input)}
        />
      )}
      {isEnded(call) && (
        <ConfirmButton
          label="Call again"
          consequence="A new call of the same agent to the same person is placed; the phone may ring at once."
          disabledBecause={operates}
          onConfirm={async () => {
            const { id } = await again.mutateAsync(input)
            await navigate({ to: '/calls/$callId', params: { callId: id } })
          }}
        />
      )}
      {call.results.some(({ status }) => status === 'exhausted') && (
        <Button
          size="compact-sm"
          variant="default"
          disabled={operates !== undefined}
          title={operates}
          loading={reprocess.isPending}
          onClick={() => reprocess.mutate(input)}
        >
          Reprocess
        </Button>
      )}
      {(call.recording?.status === 'ready' || call.recording?.status === 'encoding') && (
        <ConfirmButton
          label="Delete recording"
          consequence="The audio and its waveform are deleted for good; links to it open no more. The transcript stays."
          disabledBecause={administers}
          onConfirm={() => deleteRecording.mutateAsync(input)}
        />
      )}
    </>
  )
}
