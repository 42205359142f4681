import { Button, Code, CopyButton, Group } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'

interface CopyTextProps {
  readonly value: string
  /** What is copied, for the button's name where several stand on a page: `call id`. */
  readonly what?: string
  /** The text stands elsewhere already. */
  readonly isHidden?: boolean
}

/** A text with a button that copies it. */
export const CopyText = ({ value, what, isHidden = false }: CopyTextProps) =>
  isHidden ? <PlainCopy value={value} what={what} /> : <ShownCopy value={value} what={what} />

const nameOf = (what: string | undefined, isCopied: boolean): string | undefined =>
  what && (isCopied ? `Copied ${what}` : `Copy ${what}`)

type CopyProps = Pick<CopyTextProps, 'value'> & { readonly what: string | undefined }

/** Every row of a list has one, so it is a plain element. */
const PlainCopy = ({ value, what }: CopyProps) => {
  const { copied, copy } = useClipboard({ timeout: 1_000 })
  return (
    <button
      type="button"
      className="copy"
      onClick={() => copy(value)}
      aria-label={nameOf(what, copied)}
    >
      {copied ? 'Copied' : 'Copy'}
    </button>
  )
}

const ShownCopy = ({ value, what }: CopyProps) => (
  <Group gap={4} wrap="nowrap" display="inline-flex" maw="100%">
    <Code style={{ overflowWrap: 'anywhere' }}>{value}</Code>
    <CopyButton value={value}>
      {({ copied, copy }) => (
        <Button
          size="compact-xs"
          variant="default"
          flex="none"
          onClick={copy}
          aria-label={nameOf(what, copied)}
        >
          {copied ? 'Copied' : 'Copy'}
        </Button>
      )}
    </CopyButton>
  </Group>
)
