import { Button, Group, PasswordInput, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { reading, useChange } from '../client/queries.ts'
import { useSession } from '../client/session.ts'
import type { AnswerOf } from '../client/table.ts'
import { browserName } from '../parts/browser-name.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { problemOf, valuesOf } from '../parts/fields.ts'
import { Instant } from '../parts/instant.tsx'
import { Page } from '../parts/page.tsx'
import { Failure, Loaded } from '../parts/states.tsx'
import { TwoFactor } from './two-factor.tsx'

type OwnSession = AnswerOf<'listSessions'>['data'][number]

export const AccountPage = () => {
  const { account, role } = useSession()
  return (
    <Page title="Your account" purpose={`${account.name}, ${account.email}, ${role} here.`}>
      <Sessions />
      <TwoFactor isOn={account.two_factor} />
      <Password />
    </Page>
  )
}

const Sessions = () => {
  const result = useQuery(reading('listSessions', {}))
  const endOthers = useChange('endOtherSessions')
  return (
    <Stack component="section" aria-labelledby="sessions" gap="xs">
      <Group justify="space-between">
        <Title order={2} size="h4" id="sessions">
          Sessions
        </Title>
        <ConfirmButton
          label="End all other sessions"
          consequence="Every other browser that is signed in to your account is signed out within a second."
          onConfirm={() => endOthers.mutateAsync({})}
        />
      </Group>
      <Loaded result={result}>
        {({ data }) => (
          <DataTable label="Sessions" columns={columns} rows={data} keyOf={({ id }) => id} />
        )}
      </Loaded>
    </Stack>
  )
}

const columns: readonly Column<OwnSession>[] = [
  {
    name: 'Browser',
    cell: ({ user_agent: agent, is_current: isCurrent }) =>
      `${browserName(agent)}${isCurrent ? ' (this one)' : ''}`,
  },
  { name: 'Address', cell: ({ address }) => address ?? '–' },
  { name: 'Signed in', cell: ({ created_at: at }) => <Instant at={at} /> },
  { name: 'Last seen', cell: ({ last_seen_at: at }) => <Instant at={at} /> },
  { name: 'Ends', cell: ({ expires_at: at }) => <Instant at={at} /> },
  { name: 'Actions', cell: (session) => <EndSession session={session} /> },
]

const EndSession = ({ session }: { session: OwnSession }) => {
  const end = useChange('endSession')
  if (session.is_current) return null
  return (
    <ConfirmButton
      label="End"
      accessibleName={`End the session of ${browserName(session.user_agent)}`}
      consequence="That browser is signed out within a second."
      onConfirm={() => end.mutateAsync({ params: { session_id: session.id } })}
    />
  )
}

const Password = () => {
  const change = useChange('changePassword')
  return (
    <Stack component="section" aria-labelledby="password" gap="xs" maw="26rem">
      <Title order={2} size="h4" id="password">
        Password
      </Title>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const form = event.currentTarget
          const { current, password } = valuesOf(form, 'current', 'password')
          change.mutate({ body: { current, password } }, { onSuccess: () => form.reset() })
        }}
      >
        <Stack gap="xs">
          {change.error && <Failure error={change.error} />}
          {change.isSuccess && (
            <Text role="status" size="sm">
              The password is changed. Every other session was ended.
            </Text>
          )}
          <PasswordInput
            label="Current password"
            name="current"
            required
            withAsterisk={false}
            autoComplete="current-password"
            error={problemOf(change.error, 'current')}
          />
          <PasswordInput
            label="New password"
            name="password"
            description="At least 8 characters."
            required
            withAsterisk={false}
            minLength={8}
            maxLength={128}
            autoComplete="new-password"
            error={problemOf(change.error, 'password')}
          />
          <Group>
            <Button type="submit" loading={change.isPending}>
              Change password
            </Button>
          </Group>
        </Stack>
      </form>
    </Stack>
  )
}
