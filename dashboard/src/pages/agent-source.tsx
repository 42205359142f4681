import { Button, Stack, Text, Textarea } from '@mantine/core'
import { useRef } from 'react'
import { offsetOf, type Problem } from './agent-file.ts'

interface AgentSourceProps {
  readonly source: string
  readonly problems: readonly Problem[]
  readonly isReadOnly: boolean
  readonly onChange: (source: string) => void
}

/** The whole file as text, with each problem beside it. */
export const AgentSource = ({ source, problems, isReadOnly, onChange }: AgentSourceProps) => {
  const editor = useRef<HTMLTextAreaElement>(null)
  const goTo = (offset: number): void => {
    const { current } = editor
    if (!current) return
    current.focus()
    const end = source.indexOf('\n', offset)
    current.setSelectionRange(offset, end < 0 ? source.length : end)
    const line = source.slice(0, offset).split('\n').length - 1
    const lines = source.split('\n').length
    current.scrollTop = (current.scrollHeight / lines) * Math.max(0, line - 3)
  }
  return (
    <Stack gap="xs">
      <Textarea
        ref={editor}
        label="Agent file"
        description="JSON, as outdial agent create and publish take it. (hidden) keeps a value that is stored."
        classNames={{ input: 'source' }}
        rows={24}
        spellCheck={false}
        readOnly={isReadOnly}
        value={source}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      <section aria-label="Problems of the file">
        {problems.length === 0 ? (
          <Text size="sm">No problems.</Text>
        ) : (
          <ul className="problems">
            {problems.map(({ path, message }) => {
              const offset = offsetOf(source, path)
              const line = source.slice(0, offset).split('\n').length
              return (
                <li key={`${path} ${message}`}>
                  <Button
                    size="compact-xs"
                    variant="default"
                    onClick={() => goTo(offset)}
                    aria-label={`Go to line ${line}: ${path}`}
                  >
                    Line {line}
                  </Button>{' '}
                  <Text size="sm" span>
                    {path === '' ? message : `${path}: ${message}`}
                  </Text>
                </li>
              )
            })}
          </ul>
        )}
      </section>
    </Stack>
  )
}
