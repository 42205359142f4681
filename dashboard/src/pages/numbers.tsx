import { Badge, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { reading, refreshedUntil, useChange } from '../client/queries.ts'
import { useSession } from '../client/session.ts'
import type { AnswerOf } from '../client/table.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { Instant } from '../parts/instant.tsx'
import { Page } from '../parts/page.tsx'
import { Empty, Failure, Loaded } from '../parts/states.tsx'
import { NumberForm } from './number-form.tsx'

export type CallerNumber = AnswerOf<'listNumbers'>['data'][number]

const refreshMs = 10_000

/** The numbers that callees of the organization see. */
export const Numbers = () => {
  const { role } = useSession()
  const [edited, setEdited] = useState<CallerNumber | 'new'>()
  const mayEdit = role === 'owner' || role === 'admin'
  return (
    <Page
      title="Numbers"
      purpose="What callees see. For each call the number is taken that is nearest to the callee, and of those the one that was used least today. Live calls go on whatever is changed."
      actions={mayEdit && <Button onClick={() => setEdited('new')}>Add number</Button>}
    >
      <NumberList {...(mayEdit && { onEdit: setEdited })} />
      <Modal
        opened={edited !== undefined}
        onClose={() => setEdited(undefined)}
        title={edited === 'new' ? 'Add number' : `Change ${edited?.phone_number ?? ''}`}
      >
        {edited !== undefined && (
          <NumberForm
            number={edited === 'new' ? undefined : edited}
            onDone={() => setEdited(undefined)}
          />
        )}
      </Modal>
    </Page>
  )
}

const NumberList = ({ onEdit }: { onEdit?: (number: CallerNumber) => void }) => {
  const result = useQuery({
    ...reading('listNumbers', {}),
    refetchInterval: refreshedUntil(() => false, refreshMs),
  })
  const columns: readonly Column<CallerNumber>[] = [
    ...numberColumns,
    ...(onEdit
      ? [
          {
            name: 'Actions',
            cell: (number: CallerNumber) => <NumberActions number={number} onEdit={onEdit} />,
          },
        ]
      : []),
  ]
  return (
    <Loaded result={result}>
      {({ data }) =>
        data.length === 0 ? (
          <Empty
            what="There is no number yet: callees of a live organization see the one of the installation, if it has one. Add one here or by the command."
            command="./outdial number add NUMBER"
          />
        ) : (
          <DataTable
            label="Numbers"
            columns={columns}
            rows={data}
            keyOf={({ phone_number: phoneNumber }) => phoneNumber}
          />
        )
      }
    </Loaded>
  )
}

const numberColumns: readonly Column<CallerNumber>[] = [
  { name: 'Number', cell: ({ phone_number: phoneNumber }) => phoneNumber },
  { name: 'Country', cell: ({ country }) => country ?? '–' },
  {
    name: 'State',
    cell: ({ state, reason, rests_until: until, flag_reason: flag }) => (
      <Stack gap={2}>
        <Badge variant="default" tt="none">
          {state}
        </Badge>
        {flag !== null && (
          <Badge color="red.9" variant="filled" tt="none" autoContrast={false}>
            looks spoiled
          </Badge>
        )}
        {(reason ?? flag) !== null && <Text size="xs">{reason ?? flag}</Text>}
        {until !== null && (
          <Text size="xs">
            until <Instant at={until} />
          </Text>
        )}
      </Stack>
    ),
  },
  {
    name: 'Calls today',
    cell: ({ calls_today: calls, calls_per_day: limit }) =>
      limit === null ? `${calls}, no limit` : `${calls} of ${limit}`,
  },
  { name: 'Trunk', cell: ({ trunk }) => trunk ?? 'any' },
]

const NumberActions = ({
  number,
  onEdit,
}: {
  number: CallerNumber
  onEdit: (number: CallerNumber) => void
}) => {
  const rest = useChange('restNumber')
  const resume = useChange('resumeNumber')
  const remove = useChange('removeNumber')
  const { phone_number: phoneNumber, state } = number
  const isResting = state === 'resting'
  const error = rest.error ?? resume.error
  const toggle = (): void => {
    const body = { phone_number: phoneNumber }
    if (isResting) resume.mutate({ body })
    else rest.mutate({ body })
  }
  return (
    <Stack gap={4}>
      <Group gap="xs" wrap="nowrap">
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`${isResting ? 'Resume' : 'Rest'} ${phoneNumber}`}
          loading={rest.isPending || resume.isPending}
          onClick={toggle}
        >
          {isResting ? 'Resume' : 'Rest'}
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Edit ${phoneNumber}`}
          onClick={() => onEdit(number)}
        >
          Edit
        </Button>
        <ConfirmButton
          label="Remove"
          accessibleName={`Remove ${phoneNumber}`}
          consequence="No new call shows it; live ones go on to their end."
          onConfirm={() => remove.mutateAsync({ body: { phone_number: phoneNumber } })}
        />
      </Group>
      {error && <Failure error={error} />}
    </Stack>
  )
}
