import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useMutation } from '@tanstack/react-query'
import { Failure } from './states.tsx'

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
  const action = useMutation({ mutationFn: onConfirm, onSuccess: close })
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
      <Modal
        opened={isOpen}
        onClose={close}
        title={accessibleName}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Stack>
          <Text size="sm">{consequence}</Text>
          {action.error && <Failure error={action.error} />}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Keep
            </Button>
            <Button color="red.9" loading={action.isPending} onClick={() => action.mutate()}>
              {label}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
