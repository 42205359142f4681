import { Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { hasStatus, type RequestFailure } from '../client/failure.ts'
import { send } from '../client/send.ts'
import type { AnswerOf } from '../client/table.ts'
import { problemOf, valuesOf } from '../parts/fields.ts'
import { FrontPage } from '../parts/front-page.tsx'
import { Instant } from '../parts/instant.tsx'
import { Failure, Loaded } from '../parts/states.tsx'

type Invitation = AnswerOf<'showInvitation'>

export const Invite = () => {
  const { token: secret } = useParams({ from: '/invite/$token' })
  const invitation = useQuery<Invitation, RequestFailure>({
    queryKey: ['showInvitation', secret],
    queryFn: ({ signal }) => send('showInvitation', { body: { secret } }, { signal }),
  })
  return (
    <FrontPage title="Invitation">
      {hasStatus(invitation.error, 404) ? (
        <Text size="sm">
          This invitation was used, revoked, or has ended: it is valid for 72 hours and once. Ask
          for another.
        </Text>
      ) : (
        <Loaded result={invitation}>
          {(known) => <AcceptForm secret={secret} invitation={known} />}
        </Loaded>
      )}
    </FrontPage>
  )
}

const AcceptForm = ({ secret, invitation }: { secret: string; invitation: Invitation }) => {
  const navigate = useNavigate()
  const queries = useQueryClient()
  const [needsCode, setNeedsCode] = useState(false)
  const accept = useMutation({
    mutationFn: (form: HTMLFormElement) => {
      const { name, password, code } = valuesOf(form, 'name', 'password', 'code')
      return send('acceptInvitation', {
        body: { secret, password, ...(name !== '' && { name }), ...(code !== '' && { code }) },
      })
    },
    onSuccess: async ({ status }) => {
      if (status === 'code_required') return setNeedsCode(true)
      queries.clear()
      await navigate({ to: '/' })
    },
  })
  const { error } = accept
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        accept.mutate(event.currentTarget)
      }}
    >
      <Stack>
        <Text size="sm">
          {invitation.email} joins <strong>{invitation.organization}</strong> as {invitation.role},
          until <Instant at={invitation.expires_at} />.
        </Text>
        {error && <Failure error={error} />}
        {!invitation.has_account && (
          <TextInput
            label="Name"
            name="name"
            required
            withAsterisk={false}
            maxLength={200}
            autoComplete="name"
            error={problemOf(error, 'name')}
          />
        )}
        <PasswordInput
          label="Password"
          name="password"
          description={invitation.has_account ? 'Of your account.' : 'At least 8 characters.'}
          required
          withAsterisk={false}
          minLength={8}
          maxLength={128}
          autoComplete={invitation.has_account ? 'current-password' : 'new-password'}
          error={problemOf(error, 'password')}
        />
        {needsCode && (
          <TextInput
            label="Code"
            name="code"
            required
            withAsterisk={false}
            autoFocus
            autoComplete="one-time-code"
          />
        )}
        <Button type="submit" loading={accept.isPending}>
          Join
        </Button>
      </Stack>
    </form>
  )
}
