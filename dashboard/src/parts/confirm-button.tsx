import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { ConfirmDialog } from './confirm-dialog.tsx'

interface ConfirmButtonProps {
  readonly label: string
  /** The button's name where several of the same label stand on a page. */
  readonly accessibleName?: string
  /** What follows, in one sentence. */
  readonly consequence: string
  readonly onConfirm: () => Promise<unknown>
  readonly disabledBecause?: string | undefined
}

/** A button for what cannot be undone: asks first, and says what follows. */
export const ConfirmButton = ({
  label,
  accessibleName = label,
  consequence,
  onConfirm,
  disabledBecause,
}: ConfirmButtonProps) => {
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={accessibleName}
        onClick={open}
        disabled={disabledBecause !== undefined}
        title={disabledBecause}
      >
        {label}
      </Button>
      <ConfirmDialog
        isOpen={isOpen}
        onClose={close}
        title={accessibleName}
        consequence={consequence}
        label={label}
        onConfirm={onConfirm}
      />
    </>
  )
}
