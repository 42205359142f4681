import { Button, Code, CopyButton, Group } from '@mantine/core'

interface CopyTextProps {
  readonly value: string
  /** What is copied, for the button's name where several stand on a page: `call id`. */
  readonly what?: string
  /** The text stands elsewhere already. */
  readonly isHidden?: boolean
}

/** A text with a button that copies it. */
export const CopyText = ({ value, what, isHidden = false }: CopyTextProps) => (
  <Group gap={4} wrap="nowrap" display="inline-flex" maw="100%">
    {!isHidden && <Code style={{ overflowWrap: 'anywhere' }}>{value}</Code>}
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <Button
          size="compact-xs"
          variant="default"
          onClick={copy}
          aria-label={what && (copied ? `Copied ${what}` : `Copy ${what}`)}
        >
          {copied ? 'Copied' : 'Copy'}
        </Button>
      )}
    </CopyButton>
  </Group>
)
