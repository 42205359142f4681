import { Checkbox, Fieldset, Group, Stack, TextInput } from '@mantine/core'
import { use } from 'react'
import type { InputOf } from '../../client/table.ts'
import { ZoneContext } from '../../parts/instant.tsx'

export type CallingWindow = NonNullable<InputOf<'createBatch'>['body']['calling_window']>

const weekdays = [
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
  'sunday',
] as const satisfies CallingWindow['weekdays']

export interface WindowDraft {
  readonly timeZone: string
  readonly weekdays: readonly (typeof weekdays)[number][]
  readonly start: string
  readonly end: string
}

export const windowOf = (draft: WindowDraft): CallingWindow => ({
  time_zone: draft.timeZone,
  weekdays: [...draft.weekdays],
  start_time: draft.start,
  end_time: draft.end,
})

interface WindowFieldsProps {
  readonly window: WindowDraft | undefined
  readonly onChange: (window: WindowDraft | undefined) => void
  readonly problem: string | undefined
}

/** Narrows the policy's hours for one batch. */
export const WindowFields = ({ window, onChange, problem }: WindowFieldsProps) => {
  const zone = use(ZoneContext)
  const first: WindowDraft = {
    timeZone: zone,
    weekdays: weekdays.slice(0, 5),
    start: '09:00',
    end: '17:00',
  }
  return (
    <>
      <Checkbox
        label="Only within certain hours"
        description="The organization’s policy holds as well, in the zone of each callee."
        error={problem}
        checked={window !== undefined}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? first : undefined)}
      />
      {window && (
        <Fieldset legend="Window">
          <Stack gap="xs">
            <Group>
              {weekdays.map((day) => (
                <Checkbox
                  key={day}
                  label={`${day.slice(0, 1).toUpperCase()}${day.slice(1)}`}
                  checked={window.weekdays.includes(day)}
                  onChange={({ currentTarget: { checked } }) =>
                    onChange({
                      ...window,
                      weekdays: weekdays.filter((each) =>
                        each === day ? checked : window.weekdays.includes(each),
                      ),
                    })
                  }
                />
              ))}
            </Group>
            <Group align="flex-end">
              <TextInput
                type="time"
                label="From"
                value={window.start}
                onChange={({ currentTarget }) =>
                  onChange({ ...window, start: currentTarget.value })
                }
              />
              <TextInput
                label="To"
                description="24:00 is midnight"
                value={window.end}
                onChange={({ currentTarget }) => onChange({ ...window, end: currentTarget.value })}
              />
              <TextInput
                label="Time zone"
                value={window.timeZone}
                onChange={({ currentTarget }) =>
                  onChange({ ...window, timeZone: currentTarget.value })
                }
              />
            </Group>
          </Stack>
        </Fieldset>
      )}
    </>
  )
}
