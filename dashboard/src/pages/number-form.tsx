import { Button, Checkbox, Group, Stack, TextInput } from '@mantine/core'
import { useChange } from '../client/queries.ts'
import { Failure } from '../parts/states.tsx'
import type { CallerNumber } from './numbers.tsx'

interface NumberFormProps {
  readonly number: CallerNumber | undefined
  readonly onDone: () => void
}

/** Adds a number, or changes one. */
export const NumberForm = ({ number, onDone }: NumberFormProps) => {
  const add = useChange('addNumber')
  const change = useChange('changeNumber')
  const error = add.error ?? change.error
  const submit = async (form: HTMLFormElement): Promise<void> => {
    const body = valuesOfForm(new FormData(form), number?.phone_number)
    try {
      await (number === undefined ? add.mutateAsync({ body }) : change.mutateAsync({ body }))
      onDone()
    } catch {
      // Shown above the form.
    }
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void submit(event.currentTarget)
      }}
    >
      <Stack>
        {error && <Failure error={error} />}
        {number === undefined && (
          <TextInput
            name="phone_number"
            label="Number"
            required
            description="E.164, such as +12125550123. Carriers refuse a number that is not yours."
          />
        )}
        <TextInput
          name="calls_per_day"
          label="Calls a day"
          type="number"
          min={1}
          description="Empty: no limit."
          defaultValue={number?.calls_per_day?.toString()}
        />
        <TextInput
          name="trunk"
          label="Trunk"
          description="Empty: calls on any trunk show it."
          defaultValue={number?.trunk ?? ''}
        />
        <Checkbox
          name="rest_when_flagged"
          label="Rest for a day when calls from it are refused as spam"
          defaultChecked={number?.rest_when_flagged ?? false}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onDone}>
            Cancel
          </Button>
          <Button type="submit" loading={add.isPending || change.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

const valuesOfForm = (data: FormData, phoneNumber: string | undefined) => {
  const text = (name: string): string => {
    const value = data.get(name)
    return typeof value === 'string' ? value.trim() : ''
  }
  const limit = text('calls_per_day')
  return {
    phone_number: phoneNumber ?? text('phone_number'),
    calls_per_day: limit === '' ? null : Number(limit),
    trunk: text('trunk') || null,
    rest_when_flagged: data.get('rest_when_flagged') !== null,
  }
}
