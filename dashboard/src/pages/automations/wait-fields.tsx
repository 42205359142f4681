import { Checkbox, Group, Stack, TextInput } from '@mantine/core'
import { textOf, withoutMember, type Members } from './draft.ts'
import { DurationField } from './duration-field.tsx'
import { StepChoice } from './step-choice.tsx'
import type { StepFieldsProps } from './step-fields.tsx'

/** A wait: for a while, until a time of day where the contact is, or both. */
export const WaitFields = ({ step, names, problems, isReadOnly, onChange }: StepFieldsProps) => {
  const hasLength = 'for' in step
  const hasTime = 'until_local_time' in step
  return (
    <Stack gap="xs">
      <Group gap="lg">
        <Checkbox
          label="For a while"
          checked={hasLength}
          disabled={isReadOnly}
          onChange={({ currentTarget }) =>
            onChange(withMember(step, 'for', currentTarget.checked ? 'PT1H' : undefined))
          }
        />
        <Checkbox
          label="Until a time of day"
          checked={hasTime}
          disabled={isReadOnly}
          onChange={({ currentTarget }) =>
            onChange(
              withMember(step, 'until_local_time', currentTarget.checked ? '10:00' : undefined),
            )
          }
        />
      </Group>
      <Group align="flex-start">
        {(hasLength || problems.has('for')) && (
          <DurationField
            label="How long"
            value={textOf(step, 'for')}
            error={problems.get('for')}
            isReadOnly={isReadOnly}
            onChange={(text) => onChange({ ...step, for: text })}
          />
        )}
        {hasTime && (
          <TextInput
            label="Time of the contact"
            description="24 hours, such as 10:00."
            w="12rem"
            error={problems.get('until_local_time')}
            readOnly={isReadOnly}
            value={textOf(step, 'until_local_time')}
            onChange={({ currentTarget }) =>
              onChange({ ...step, until_local_time: currentTarget.value })
            }
          />
        )}
        <StepChoice
          label="Then"
          value={textOf(step, 'next')}
          names={names}
          error={problems.get('next')}
          isReadOnly={isReadOnly}
          onChange={(next) => onChange({ ...step, next })}
        />
      </Group>
    </Stack>
  )
}

const withMember = (step: Members, name: string, value: string | undefined): Members =>
  value === undefined ? withoutMember(step, name) : { ...step, [name]: value }
