import { Button, Group, Modal, NativeSelect, Stack, Text, TextInput, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import {
  atLeast,
  mayDecideAbout,
  rolePurposes,
  roles,
  type Role,
} from '../../../src/contract/roles.ts'
import { reading, useChange } from '../client/queries.ts'
import { useMay, useSession } from '../client/session.ts'
import type { AnswerOf } from '../client/table.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { CopyText } from '../parts/copy-text.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { problemOf, valuesOf } from '../parts/fields.ts'
import { Instant } from '../parts/instant.tsx'
import { Page } from '../parts/page.tsx'
import { Failure, Loaded } from '../parts/states.tsx'

type Member = AnswerOf<'listMembers'>['data'][number]
type Invitation = AnswerOf<'listInvitations'>['data'][number]

export const Members = () => {
  const mayInvite = useMay(atLeast('admin'))
  const members = useQuery(reading('listMembers', {}))
  const invitations = useQuery({ ...reading('listInvitations', {}), enabled: mayInvite })
  const { sort, create } = useSearch({ from: '/shell/settings/members' })
  const navigate = useNavigate({ from: '/settings/members' })
  const [isInviting, inviting] = useDisclosure()
  useEffect(() => {
    if (create === undefined) return
    inviting.open()
    void navigate({ search: { sort }, replace: true })
  }, [create, inviting, navigate, sort])
  return (
    <Page
      title="Members"
      purpose="Who may do what in this organization. A change of role ends the member's sessions here."
      actions={
        <Button
          disabled={!mayInvite}
          title={mayInvite ? undefined : 'For administrators.'}
          onClick={inviting.open}
        >
          Invite
        </Button>
      }
    >
      <Loaded result={members}>
        {({ data }) => (
          <DataTable
            label="Members"
            columns={memberColumns}
            rows={data}
            keyOf={({ account_id: id }) => id}
            sort={sort}
            onSort={(next) => void navigate({ search: { sort: next } })}
          />
        )}
      </Loaded>
      {/* Who may not read them is told so once, by the members. */}
      {mayInvite && (
        <Loaded result={invitations}>
          {({ data }) =>
            data.length === 0 ? null : (
              <>
                <Title order={2} size="h4">
                  Open invitations
                </Title>
                <DataTable
                  label="Open invitations"
                  columns={invitationColumns}
                  rows={data}
                  keyOf={({ id }) => id}
                />
              </>
            )
          }
        </Loaded>
      )}
      <InviteDialog isOpen={isInviting && mayInvite} onClose={inviting.close} />
    </Page>
  )
}

const memberColumns: readonly Column<Member>[] = [
  { name: 'Name', cell: ({ name }) => name, sortBy: ({ name }) => name },
  { name: 'Email', cell: ({ email }) => email, sortBy: ({ email }) => email },
  { name: 'Role', cell: (member) => <RoleChoice member={member} />, sortBy: ({ role }) => role },
  { name: 'Two-factor', cell: ({ two_factor: has }) => (has ? 'on' : 'off') },
  {
    name: 'Last seen',
    cell: ({ last_seen_at: at }) => (at === undefined ? 'never' : <Instant at={at} />),
    sortBy: ({ last_seen_at: at }) => at,
  },
  { name: 'Actions', cell: (member) => <RemoveMember member={member} /> },
]

const RoleChoice = ({ member }: { member: Member }) => {
  const { role: own } = useSession()
  const change = useChange('changeRole')
  return (
    <Stack gap={4}>
      <NativeSelect
        aria-label={`Role of ${member.name}`}
        size="xs"
        value={member.role}
        disabled={!mayDecideAbout(own, member.role) || change.isPending}
        data={roles.map((role) => ({
          value: role,
          label: role,
          disabled: !mayDecideAbout(own, role),
        }))}
        onChange={({ currentTarget }) =>
          change.mutate({
            params: { account_id: member.account_id },
            body: { role: currentTarget.value as Role },
          })
        }
      />
      {change.error && <Failure error={change.error} />}
    </Stack>
  )
}

const RemoveMember = ({ member }: { member: Member }) => {
  const { role: own } = useSession()
  const remove = useChange('removeMember')
  return (
    <ConfirmButton
      label="Remove"
      accessibleName={`Remove ${member.name}`}
      consequence="The account stays, and sees nothing of this organization from now on."
      disabledBecause={
        mayDecideAbout(own, member.role) ? undefined : 'Only an owner decides about owners.'
      }
      onConfirm={() => remove.mutateAsync({ params: { account_id: member.account_id } })}
    />
  )
}

const invitationColumns: readonly Column<Invitation>[] = [
  { name: 'Email', cell: ({ email }) => email },
  { name: 'Role', cell: ({ role }) => role },
  { name: 'Sent', cell: ({ created_at: at }) => <Instant at={at} /> },
  { name: 'Ends', cell: ({ expires_at: at }) => <Instant at={at} /> },
  { name: 'Actions', cell: (invitation) => <RevokeInvitation invitation={invitation} /> },
]

const RevokeInvitation = ({ invitation }: { invitation: Invitation }) => {
  const revoke = useChange('revokeInvitation')
  return (
    <ConfirmButton
      label="Revoke"
      accessibleName={`Revoke the invitation of ${invitation.email}`}
      consequence="Its link leads nowhere from now on."
      onConfirm={() => revoke.mutateAsync({ params: { invitation_id: invitation.id } })}
    />
  )
}

const InviteDialog = ({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) => {
  const { role: own } = useSession()
  const invite = useChange('invite')
  const [role, setRole] = useState<Role>('operator')
  const close = (): void => {
    invite.reset()
    onClose()
  }
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title="Invite a member"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {invite.data ? (
        <Stack>
          <TextInput label="Invitation link" value={invite.data.link} readOnly />
          <Group>
            <CopyText value={invite.data.link} isHidden />
          </Group>
          <Text size="sm">
            Send it to {invite.data.email} yourself. It is shown only now, and valid once, for 72
            hours.
          </Text>
          <Button onClick={close}>Done</Button>
        </Stack>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            const { email } = valuesOf(event.currentTarget, 'email')
            invite.mutate({ body: { email, role } })
          }}
        >
          <Stack>
            {invite.error && <Failure error={invite.error} />}
            <TextInput
              label="Email"
              name="email"
              type="email"
              required
              withAsterisk={false}
              maxLength={254}
              error={problemOf(invite.error, 'email')}
            />
            <NativeSelect
              label="Role"
              description={rolePurposes[role]}
              value={role}
              data={roles.map((each) => ({
                value: each,
                label: each,
                disabled: !mayDecideAbout(own, each),
              }))}
              onChange={({ currentTarget }) => setRole(currentTarget.value as Role)}
            />
            <Button type="submit" loading={invite.isPending}>
              Make the link
            </Button>
          </Stack>
        </form>
      )}
    </Modal>
  )
}
