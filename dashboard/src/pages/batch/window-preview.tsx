import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { send } from '../../client/send.ts'
import type { AnswerOf } from '../../client/table.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { Failure } from '../../parts/states.tsx'
import type { CallingWindow } from './window-fields.tsx'

interface WindowPreviewProps {
  readonly recipients: { readonly contactIds: readonly string[] } | { readonly importId: string }
  readonly window: CallingWindow | undefined
}

type Preview = AnswerOf<'previewWindow'>

/** When the recipients may be called: policy and window together, in the zone of the callees. */
export const WindowPreview = ({ recipients, window }: WindowPreviewProps) => {
  const preview = useMutation({
    mutationFn: () =>
      send('previewWindow', {
        body: {
          ...('contactIds' in recipients
            ? { contact_ids: [...recipients.contactIds] }
            : { import_id: recipients.importId }),
          ...(window && { calling_window: window }),
        },
      }),
  })
  return (
    <Stack gap="xs">
      <Group>
        <Button
          size="xs"
          variant="default"
          loading={preview.isPending}
          onClick={() => preview.mutate()}
        >
          Show when they may be called
        </Button>
      </Group>
      {preview.error && <Failure error={preview.error} />}
      {preview.data && <Zones preview={preview.data} />}
    </Stack>
  )
}

/** Openings that are named; the others follow their pattern. */
const maxOpenings = 3

const Zones = ({ preview }: { preview: Preview }) => (
  <DataTable
    label="Hours of the recipients"
    rows={preview.zones}
    keyOf={({ time_zones: zones }) => zones.join()}
    columns={[
      {
        name: 'Zone of the callee',
        cell: ({ time_zones: zones }) =>
          zones.length === 0 ? `${preview.time_zone} (no place known)` : zones.join(', '),
      },
      { name: 'Recipients', cell: ({ recipients }) => recipients },
      {
        name: 'May be called, in their time',
        cell: ({ time_zones: zones, openings }) => {
          const zone = zones[0] ?? preview.time_zone
          return openings.length === 0 ? (
            <Text size="sm">Never within the next week</Text>
          ) : (
            openings.slice(0, maxOpenings).map(({ start, end }) => (
              <Text key={start} size="sm">
                {new Intl.DateTimeFormat(undefined, {
                  weekday: 'short',
                  month: 'short',
                  day: 'numeric',
                  hour: 'numeric',
                  minute: '2-digit',
                  timeZone: zone,
                }).formatRange(new Date(start), new Date(end))}
              </Text>
            ))
          )
        },
      },
    ]}
  />
)
