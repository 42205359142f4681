import { Button, Group, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { useState } from 'react'
import { useChange } from '../client/queries.ts'
import { CopyText } from '../parts/copy-text.tsx'
import { valuesOf } from '../parts/fields.ts'
import { saveText } from '../parts/save-text.ts'
import { Failure } from '../parts/states.tsx'

/** A second factor: an authenticator's code at each sign-in, with recovery codes for when it is lost. */
export const TwoFactor = ({ isOn }: { isOn: boolean }) => (
  <Stack component="section" aria-labelledby="two-factor" gap="xs" maw="34rem">
    <Title order={2} size="h4" id="two-factor">
      Two-factor authentication
    </Title>
    {isOn ? <On /> : <Off />}
  </Stack>
)

const Off = () => {
  const begin = useChange('beginTwoFactor')
  const confirm = useChange('confirmTwoFactor')
  if (!begin.data)
    return (
      <>
        <Text size="sm">It is off: your password alone signs you in.</Text>
        <PasswordForm
          action="Set up"
          error={begin.error}
          isPending={begin.isPending}
          onPassword={(password) => begin.mutate({ body: { password } })}
        />
      </>
    )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        confirm.mutate({ body: valuesOf(event.currentTarget, 'code') })
      }}
    >
      <Stack gap="xs">
        <Text size="sm">
          Add this key to your authenticator, keep the recovery codes, then type the code it shows.
        </Text>
        <CopyText value={secretOf(begin.data.uri)} what="authenticator key" />
        <RecoveryCodes codes={begin.data.recovery_codes} />
        {confirm.error && <Failure error={confirm.error} />}
        <TextInput
          label="Code"
          name="code"
          required
          withAsterisk={false}
          inputMode="numeric"
          autoComplete="one-time-code"
        />
        <Group>
          <Button type="submit" loading={confirm.isPending}>
            Turn on
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

/** The key that a person types where the link cannot be opened. */
const secretOf = (uri: string): string => {
  try {
    return new URL(uri).searchParams.get('secret') ?? uri
  } catch {
    return uri
  }
}

const On = () => {
  const end = useChange('endTwoFactor')
  const renew = useChange('renewRecoveryCodes')
  const [wish, setWish] = useState<'end' | 'renew'>()
  const chosen = wish === 'renew' ? renew : end
  return (
    <>
      <Text size="sm">It is on: signing in asks for a code.</Text>
      <Group>
        <Button variant="default" size="xs" onClick={() => setWish('renew')}>
          New recovery codes
        </Button>
        <Button variant="default" size="xs" onClick={() => setWish('end')}>
          Turn off
        </Button>
      </Group>
      {renew.data && <RecoveryCodes codes={renew.data.recovery_codes} />}
      {wish && !(wish === 'renew' && renew.data) && (
        <PasswordForm
          action={wish === 'renew' ? 'Make new codes' : 'Turn it off'}
          error={chosen.error}
          isPending={chosen.isPending}
          onPassword={(password) => chosen.mutate({ body: { password } })}
        />
      )}
    </>
  )
}

interface PasswordFormProps {
  readonly action: string
  readonly error: unknown
  readonly isPending: boolean
  readonly onPassword: (password: string) => void
}

const PasswordForm = ({ action, error, isPending, onPassword }: PasswordFormProps) => (
  <form
    onSubmit={(event) => {
      event.preventDefault()
      onPassword(valuesOf(event.currentTarget, 'proof').proof)
    }}
  >
    <Stack gap="xs">
      {error !== null && <Failure error={error} />}
      <PasswordInput
        label="Your password"
        name="proof"
        required
        withAsterisk={false}
        autoComplete="current-password"
      />
      <Group>
        <Button type="submit" loading={isPending}>
          {action}
        </Button>
      </Group>
    </Stack>
  </form>
)

const RecoveryCodes = ({ codes }: { codes: readonly string[] }) => (
  <Stack gap={4}>
    <Text size="sm" fw={600}>
      Recovery codes, each for one sign-in. They are shown only now.
    </Text>
    <ul aria-label="Recovery codes">
      {codes.map((code) => (
        <li key={code}>
          <code>{code}</code>
        </li>
      ))}
    </ul>
    <Group>
      <Button
        size="xs"
        variant="default"
        onClick={() =>
          saveText('outdial-recovery-codes.txt', `${codes.join('\n')}\n`, 'text/plain')
        }
      >
        Save as a file
      </Button>
    </Group>
  </Stack>
)
