import { NativeSelect } from '@mantine/core'

interface StepChoiceProps {
  readonly label: string
  readonly value: string
  readonly names: readonly string[]
  readonly error?: string | undefined
  readonly isReadOnly: boolean
  readonly onChange: (name: string) => void
}

/** The step that comes next. One that is missing is named, so that it can be seen and changed. */
export const StepChoice = (properties: StepChoiceProps) => {
  const { label, value, names, error, isReadOnly, onChange } = properties
  const data = names.map((name) => ({ value: name, label: name }))
  const missing = names.includes(value)
    ? []
    : [{ value, label: value === '' ? 'Choose a step' : `${value} (missing)` }]
  return (
    <NativeSelect
      label={label}
      error={error}
      disabled={isReadOnly}
      value={value}
      data={[...missing, ...data]}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  )
}
