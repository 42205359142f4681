import { Textarea } from '@mantine/core'
import { useState } from 'react'

interface LinesFieldProps {
  readonly label: string
  readonly description: string
  readonly lines: readonly string[]
  readonly isReadOnly: boolean
  readonly error: string | undefined
  readonly onChange: (lines: readonly string[]) => void
}

/** A list as text, one item a line; empty lines and spaces around an item do not count. */
export const LinesField = ({ lines, isReadOnly, onChange, ...input }: LinesFieldProps) => {
  const [typed, setTyped] = useState('')
  // While a line is being written the text differs from its list by spaces and empty lines only.
  const isTyped = linesOf(typed).join('\n') === lines.join('\n')
  return (
    <Textarea
      {...input}
      autosize
      minRows={2}
      maxRows={10}
      value={isTyped ? typed : lines.join('\n')}
      readOnly={isReadOnly}
      onChange={({ currentTarget: { value } }) => {
        setTyped(value)
        onChange(linesOf(value))
      }}
    />
  )
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
