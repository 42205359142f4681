import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { atLeast } from '../../../../src/contract/roles.ts'
import { useChange } from '../../client/queries.ts'
import { useMay } from '../../client/session.ts'
import type { AnswerOf } from '../../client/table.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { CopyText } from '../../parts/copy-text.tsx'
import { Failure } from '../../parts/states.tsx'

type Batch = AnswerOf<'getBatch'>['batch']

const startable = new Set<string>(['draft', 'paused'])
const pausable = new Set<string>(['scheduled', 'queued', 'in_progress'])
const final = new Set<string>(['completed', 'failed', 'cancelled'])

export const BatchActions = ({ batch }: { batch: Batch }) => {
  const start = useChange('startBatch')
  const pause = useChange('pauseBatch')
  const cancel = useChange('cancelBatch')
  const retry = useChange('retryBatch')
  const navigate = useNavigate()
  const mayAct = useMay(atLeast('operator'))
  const why = mayAct ? undefined : 'For operators and administrators.'
  const params = { batch_id: batch.id }
  const error = start.error ?? pause.error ?? retry.error
  const unreached = batch.failed_recipients + batch.no_answer_recipients + batch.busy_recipients
  return (
    <>
      {error && <Failure error={error} />}
      <CopyText value={batch.id} what="batch id" isHidden />
      {startable.has(batch.status) && (
        <Button
          size="compact-sm"
          disabled={!mayAct}
          title={why}
          loading={start.isPending}
          onClick={() => start.mutate({ params })}
        >
          {batch.status === 'draft' ? 'Start' : 'Resume'}
        </Button>
      )}
      {pausable.has(batch.status) && (
        <Button
          size="compact-sm"
          variant="default"
          disabled={!mayAct}
          title={why}
          loading={pause.isPending}
          onClick={() => pause.mutate({ params })}
        >
          Pause
        </Button>
      )}
      {!final.has(batch.status) && (
        <ConfirmButton
          label="Cancel"
          accessibleName="Cancel the batch"
          consequence="Nobody who waits is called any more; live calls finish."
          disabledBecause={why}
          onConfirm={() => cancel.mutateAsync({ params })}
        />
      )}
      {unreached > 0 && (
        <Button
          size="compact-sm"
          variant="default"
          disabled={!mayAct}
          title={why}
          loading={retry.isPending}
          onClick={() =>
            retry.mutate(
              { params, body: { ends: ['failed', 'no_answer', 'busy'] } },
              {
                onSuccess: ({ id }) =>
                  void navigate({ to: '/batches/$batchId', params: { batchId: id } }),
              },
            )
          }
        >
          Draft of {unreached} failed or unreached
        </Button>
      )}
    </>
  )
}
