import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { hasStatus } from '../client/failure.ts'
import { send } from '../client/send.ts'
import { pathAfterSignIn } from '../client/path-after-sign-in.ts'
import { valuesOf } from '../parts/fields.ts'
import { FrontPage } from '../parts/front-page.tsx'
import { Failure } from '../parts/states.tsx'

export const Login = () => {
  const { next } = useSearch({ from: '/login' })
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [needsCode, setNeedsCode] = useState(false)
  const signIn = useMutation({
    mutationFn: (form: HTMLFormElement) => {
      const { email, password, code } = valuesOf(form, 'email', 'password', 'code')
      return send('signIn', { body: { email, password, ...(code !== '' && { code }) } })
    },
    onSuccess: async ({ status }) => {
      if (status === 'code_required') return setNeedsCode(true)
      queries.clear()
      await navigate({ href: pathAfterSignIn(next, window.location.origin) })
    },
  })
  return (
    <FrontPage title="Sign in">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          signIn.mutate(event.currentTarget)
        }}
      >
        <Stack>
          {signIn.error && <SignInFailure error={signIn.error} />}
          <TextInput
            label="Email"
            name="email"
            type="email"
            required
            withAsterisk={false}
            autoComplete="username"
          />
          <PasswordInput
            label="Password"
            name="password"
            required
            withAsterisk={false}
            autoComplete="current-password"
          />
          {needsCode && (
            <TextInput
              label="Code"
              name="code"
              description="Of your authenticator, or a recovery code."
              required
              withAsterisk={false}
              autoFocus
              autoComplete="one-time-code"
            />
          )}
          <Button type="submit" loading={signIn.isPending}>
            Sign in
          </Button>
          <Text size="sm">
            An administrator of the machine sets a forgotten password anew with{' '}
            <code>outdial admin reset-password</code>.
          </Text>
        </Stack>
      </form>
    </FrontPage>
  )
}

const SignInFailure = ({ error }: { error: unknown }) =>
  hasStatus(error, 401) ? (
    <Text role="alert" size="sm" c="var(--mantine-color-error)">
      Email, password or code is wrong.
    </Text>
  ) : (
    <Failure error={error} />
  )
