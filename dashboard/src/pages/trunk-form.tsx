import {
  Button,
  Checkbox,
  Group,
  NativeSelect,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Textarea,
} from '@mantine/core'
import { useChange } from '../client/queries.ts'
import { Failure } from '../parts/states.tsx'
import { MoreOfTrunk } from './trunk-form-more.tsx'
import { valuesOfForm } from './trunk-values.ts'
import type { Trunk } from './trunks.tsx'

const inOneLine = new Set(['countries', 'codecs', 'redirect_to'])

/** Adds a trunk, or changes one: every member that `trunk set` has. */
export const TrunkForm = ({ trunk, onDone }: { trunk: Trunk | undefined; onDone: () => void }) => {
  const add = useChange('addTrunk')
  const change = useChange('changeTrunk')
  const error = add.error ?? change.error
  const old = trunk?.settings ?? {}
  const text = (name: string): string => {
    const value = old[name]
    if (Array.isArray(value)) return value.join(inOneLine.has(name) ? ', ' : '\n')
    return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  }
  const submit = async (form: HTMLFormElement): Promise<void> => {
    const { name, password, tlsKey, settings } = valuesOfForm(
      new FormData(form),
      trunk !== undefined,
    )
    const secret = {
      ...(password !== '' && { password }),
      ...(tlsKey !== undefined && { tls_key: tlsKey }),
    }
    try {
      if (trunk === undefined) await add.mutateAsync({ body: { name, settings, ...secret } })
      else
        await change.mutateAsync({ params: { trunk: trunk.name }, body: { settings, ...secret } })
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
        {trunk === undefined && (
          <TextInput
            name="name"
            label="Name"
            required
            description="Lower-case letters, digits, - and _."
          />
        )}
        <Textarea
          name="uris"
          label="Gateways"
          description="One a line, tried in this order: sip:host[:port][;transport=udp|tcp|tls]"
          required
          autosize
          minRows={2}
          defaultValue={text('uris')}
        />
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <TextInput name="user" label="User" autoComplete="off" defaultValue={text('user')} />
          <TextInput
            name="password"
            label="Password"
            type="password"
            autoComplete="new-password"
            description={trunk?.has_password ? 'Empty: it stays.' : undefined}
          />
          <TextInput
            name="priority"
            label="Priority"
            type="number"
            description="Lower goes first."
            defaultValue={text('priority') || '10'}
          />
          <TextInput
            name="weight"
            label="Weight"
            type="number"
            defaultValue={text('weight') || '1'}
          />
          <TextInput
            name="channels"
            label="Channels"
            type="number"
            min={1}
            description="Empty: no limit."
            defaultValue={text('channels')}
          />
          <TextInput
            name="cps"
            label="Calls per second"
            type="number"
            step="any"
            defaultValue={text('cps') || '10'}
          />
          <TextInput
            name="countries"
            label="Countries"
            description="all, or codes such as US, CA"
            defaultValue={text('countries') || 'all'}
          />
          <TextInput
            name="number_format"
            label="Number format"
            description="plus, e164, national or prefix:P"
            defaultValue={text('number_format') || 'plus'}
          />
          <NativeSelect
            name="identity"
            label="Identity"
            data={['none', 'pai', 'ppi']}
            defaultValue={text('identity') || 'none'}
          />
          <NativeSelect
            name="srtp"
            label="SRTP"
            data={['off', 'preferred', 'required']}
            defaultValue={text('srtp') || 'off'}
          />
          <TextInput name="from_user" label="From user" defaultValue={text('from_user')} />
          <TextInput name="from_domain" label="From domain" defaultValue={text('from_domain')} />
          <TextInput name="realm" label="Realm" defaultValue={text('realm')} />
          <TextInput
            name="outbound_proxy"
            label="Outbound proxy"
            defaultValue={text('outbound_proxy')}
          />
        </SimpleGrid>
        <MoreOfTrunk trunk={trunk} text={text} />
        <Textarea
          name="headers"
          label="Own headers"
          description="One a line, such as X-Account: 42"
          autosize
          minRows={1}
          defaultValue={text('headers')}
        />
        <Checkbox
          name="register"
          label="Register at each gateway"
          defaultChecked={trunk?.register ?? false}
        />
        <Text size="xs">Password and keys are encrypted, and never shown again.</Text>
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
