import { openedBy } from 'virtual:console-routes'
import { Button, Checkbox, Fieldset, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { scopes, type Scope } from '../../../src/contract/scopes.ts'
import { useChange } from '../client/queries.ts'
import { CopyText } from '../parts/copy-text.tsx'
import { problemOf, valuesOf } from '../parts/fields.ts'
import { Failure } from '../parts/states.tsx'

interface CreateKeyProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onCreated: (secret: string) => void
}

export const CreateKey = ({ isOpen, onClose, onCreated }: CreateKeyProps) => {
  const create = useChange('createApiKey')
  const [chosen, setChosen] = useState<readonly Scope[]>([])
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title="What the program may do"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const { name } = valuesOf(event.currentTarget, 'name')
          create.mutate(
            { body: { name, scopes: [...chosen] } },
            {
              onSuccess: ({ secret }) => {
                setChosen([])
                onCreated(secret)
              },
            },
          )
        }}
      >
        <Stack>
          {create.error && <Failure error={create.error} />}
          <TextInput
            label="Name"
            name="name"
            required
            withAsterisk={false}
            maxLength={200}
            error={problemOf(create.error, 'name')}
          />
          <Fieldset legend="Scopes">
            <Stack gap="xs">
              {scopes.map((scope) => (
                <Checkbox
                  key={scope}
                  label={scope}
                  description={openedBy[scope]?.join(', ')}
                  style={{ overflowWrap: 'anywhere' }}
                  checked={chosen.includes(scope)}
                  onChange={({ currentTarget }) =>
                    setChosen(withScope(chosen, scope, currentTarget.checked))
                  }
                />
              ))}
            </Stack>
          </Fieldset>
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Close without a key
            </Button>
            <Button type="submit" loading={create.isPending} disabled={chosen.length === 0}>
              Create
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

const withScope = (chosen: readonly Scope[], scope: Scope, isChosen: boolean): readonly Scope[] =>
  scopes.filter((each) => (each === scope ? isChosen : chosen.includes(each)))

/** Shows a secret once: with the dialog it is gone. */
export const NewKey = ({
  secret,
  onClose,
}: {
  secret: string | undefined
  onClose: () => void
}) => (
  <Modal
    opened={secret !== undefined}
    onClose={onClose}
    title="Shown only once"
    closeOnClickOutside={false}
    closeButtonProps={{ 'aria-label': 'Close' }}
  >
    {secret !== undefined && (
      <Stack>
        <TextInput label="Key" value={secret} readOnly ff="monospace" />
        <Group>
          <CopyText value={secret} isHidden />
        </Group>
        <Text size="sm">It is shown only now: put it where your program reads its secrets.</Text>
        <Button onClick={onClose}>I have kept it</Button>
      </Stack>
    )}
  </Modal>
)
