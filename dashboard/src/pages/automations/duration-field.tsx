import { Group, NativeSelect, TextInput } from '@mantine/core'
import { useState } from 'react'
import { durationParts, durationText, durationUnits, type DurationUnit } from './duration.ts'

interface DurationFieldProps {
  readonly label: string
  readonly value: string
  readonly error?: string | undefined
  readonly isReadOnly: boolean
  readonly onChange: (value: string) => void
}

/** A length of time as a number and a unit; any ISO 8601 duration as text. */
export const DurationField = (properties: DurationFieldProps) => {
  const { label, value, error, isReadOnly, onChange } = properties
  const read = durationParts(value)
  const [chosen, setChosen] = useState<DurationUnit>(read.amount === '' ? 'hours' : read.unit)
  // A number alone is no duration: its unit is the one that was chosen.
  const unit = read.unit === 'ISO 8601' && /^\d*$/.test(read.amount) ? chosen : read.unit
  return (
    <Group gap="xs" align="flex-start" wrap="nowrap">
      <TextInput
        label={label}
        error={error}
        readOnly={isReadOnly}
        w="9rem"
        inputMode={unit === 'ISO 8601' ? 'text' : 'numeric'}
        value={read.amount}
        onChange={({ currentTarget }) =>
          onChange(durationText({ amount: currentTarget.value.trim(), unit }))
        }
      />
      <NativeSelect
        label="Unit"
        disabled={isReadOnly}
        data={[...durationUnits]}
        value={unit}
        onChange={({ currentTarget }) => {
          const next = durationUnits.find((each) => each === currentTarget.value) ?? 'hours'
          setChosen(next)
          const amount = next === 'ISO 8601' ? value : read.amount
          onChange(durationText({ amount, unit: next }))
        }}
      />
    </Group>
  )
}
