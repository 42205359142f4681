import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { RequestFailure } from '../client/failure.ts'
import { send } from '../client/send.ts'
import { problemOf, valuesOf } from '../parts/fields.ts'
import { FrontPage } from '../parts/front-page.tsx'
import { Empty, Failure, Loaded } from '../parts/states.tsx'

/** The first owner, by the link that the start printed: the secret is the fragment, which no server and no log sees. */
export const Setup = () => {
  const secret = window.location.hash.slice(1)
  const state = useQuery<{ status: 'open' | 'closed' }, RequestFailure>({
    queryKey: ['checkSetup', secret],
    queryFn: ({ signal }) => send('checkSetup', { body: { secret } }, { signal }),
    enabled: secret !== '',
  })
  return (
    <FrontPage title="Set up Outdial" purpose="Makes the first organization and its owner.">
      {secret === '' ? (
        <Closed />
      ) : (
        <Loaded result={state}>
          {({ status }) => (status === 'open' ? <SetupForm secret={secret} /> : <Closed />)}
        </Loaded>
      )}
    </FrontPage>
  )
}

const Closed = () => (
  <Empty
    what="This link is not complete, or an owner stands already. The start of the service prints the link; an owner is also made by:"
    command="./outdial admin create --email you@example.com --name 'Your name'"
  />
)

const SetupForm = ({ secret }: { secret: string }) => {
  const navigate = useNavigate()
  const setup = useMutation({
    mutationFn: (form: HTMLFormElement) => {
      const { organization, name, email, password } = valuesOf(
        form,
        'organization',
        'name',
        'email',
        'password',
      )
      return send('setUp', { body: { secret, organization, name, email, password } })
    },
    onSuccess: () => navigate({ to: '/' }),
  })
  const { error } = setup
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        setup.mutate(event.currentTarget)
      }}
    >
      <Stack>
        {error && <Failure error={error} />}
        <TextInput
          label="Organization"
          name="organization"
          required
          withAsterisk={false}
          maxLength={200}
          autoComplete="organization"
          error={problemOf(error, 'organization')}
        />
        <TextInput
          label="Your name"
          name="name"
          required
          withAsterisk={false}
          maxLength={200}
          autoComplete="name"
          error={problemOf(error, 'name')}
        />
        <TextInput
          label="Email"
          name="email"
          type="email"
          required
          withAsterisk={false}
          maxLength={254}
          autoComplete="username"
          error={problemOf(error, 'email')}
        />
        <PasswordInput
          label="Password"
          name="password"
          required
          withAsterisk={false}
          minLength={8}
          maxLength={128}
          autoComplete="new-password"
          error={problemOf(error, 'password')}
        />
        <Text size="sm">At least 8 characters. Every field is needed.</Text>
        <Button type="submit" loading={setup.isPending}>
          Create
        </Button>
      </Stack>
    </form>
  )
}
