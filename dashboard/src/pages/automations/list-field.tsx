import { Textarea } from '@mantine/core'
import { useState, type ReactNode } from 'react'

interface ListFieldProps {
  readonly label: string
  readonly description?: string
  readonly values: readonly string[]
  readonly error?: ReactNode
  readonly isReadOnly: boolean
  readonly onChange: (values: readonly string[]) => void
}

/** Values, one a line. Lines without text are no values. */
export const ListField = (properties: ListFieldProps) => {
  const { label, description, values, error, isReadOnly, onChange } = properties
  const [text, setText] = useState(values.join('\n'))
  // The file may have been changed beside this field.
  const shown = sameTexts(linesOf(text), values) ? text : values.join('\n')
  return (
    <Textarea
      label={label}
      description={description}
      autosize
      minRows={1}
      maxRows={8}
      error={error}
      readOnly={isReadOnly}
      value={shown}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value)
        onChange(linesOf(currentTarget.value))
      }}
    />
  )
}

const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

const sameTexts = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((each, at) => each === right[at])
