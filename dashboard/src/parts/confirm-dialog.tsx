import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Failure } from './states.tsx'

interface ConfirmDialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly title: string
  /** What follows, in one sentence. */
  readonly consequence: string
  /** On the button that does it. */
  readonly label: string
  readonly onConfirm: () => Promise<unknown>
}

/** Asks before what cannot be undone. */
export const ConfirmDialog = ({
  isOpen,
  onClose,
  title,
  consequence,
  label,
  onConfirm,
}: ConfirmDialogProps) => {
  const action = useMutation({ mutationFn: onConfirm, onSuccess: onClose })
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={title}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        <Text size="sm">{consequence}</Text>
        {action.error && <Failure error={action.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Keep
          </Button>
          <Button color="red.9" loading={action.isPending} onClick={() => action.mutate()}>
            {label}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
