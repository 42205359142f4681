import { Button, Group, Loader, Menu, Modal, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { send } from '../client/send.ts'
import type { Session } from '../client/session.ts'
import { forgetOpening, noteOpening, showOpened } from '../client/window-organization.ts'
import { Failure } from '../parts/states.tsx'

/** The organization that the pages show; a menu where the account belongs to several. */
export const OrganizationSwitch = ({ session }: { session: Session }) => {
  const { organizations, organization_id: shown } = session
  const nameOf = (wanted: string | undefined): string =>
    organizations.find(({ organization_id: id }) => id === wanted)?.name ?? 'Organization'
  const opening = useMutation({
    mutationFn: (organizationId: string) => {
      noteOpening(organizationId)
      return send('chooseOrganization', { body: { organization_id: organizationId } })
    },
    onSuccess: showOpened,
    onError: forgetOpening,
  })
  const name = nameOf(shown)
  if (organizations.length < 2)
    return (
      <Text size="sm" truncate>
        {name}
      </Text>
    )
  return (
    <>
      <Menu position="bottom-start">
        <Menu.Target>
          <Button variant="default" size="xs" aria-label={`Organization ${name}, change`}>
            <Text size="sm" truncate maw="10rem">
              {name}
            </Text>
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {organizations.map(({ organization_id: id, name: each, mode, role }) => (
            <Menu.Item key={id} onClick={() => opening.mutate(id)} disabled={id === shown}>
              {each} · {mode ?? 'live'} · {role}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <Modal
        opened={!opening.isIdle}
        onClose={opening.reset}
        title={`Opening ${nameOf(opening.variables)}`}
        // Until the page is loaded anew it shows the organization before: nothing of it may be clicked.
        withCloseButton={false}
        closeOnClickOutside={false}
        closeOnEscape={false}
        transitionProps={{ duration: 0 }}
      >
        {opening.error ? (
          <Stack align="flex-start">
            <Failure error={opening.error} />
            <Button variant="default" onClick={opening.reset}>
              Close
            </Button>
          </Stack>
        ) : (
          <Group role="status" gap="xs">
            <Loader size="sm" aria-hidden />
            <Text size="sm">A moment</Text>
          </Group>
        )}
      </Modal>
    </>
  )
}
