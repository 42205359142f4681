import { Button, Menu, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { send } from '../client/send.ts'
import type { Session } from '../client/session.ts'

/** The organization that the pages show; a menu where the account belongs to several. */
export const OrganizationSwitch = ({ session }: { session: Session }) => {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const current = session.organizations.find(
    ({ organization_id: id }) => id === session.organization_id,
  )
  const name = current?.name ?? 'Organization'
  if (session.organizations.length < 2)
    return (
      <Text size="sm" truncate>
        {name}
      </Text>
    )
  const choose = async (organizationId: string): Promise<void> => {
    await send('chooseOrganization', { body: { organization_id: organizationId } })
    // Nothing of the other organization may be shown again.
    await navigate({ to: '/' })
    await queries.resetQueries()
  }
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <Button variant="default" size="xs" aria-label={`Organization ${name}, change`}>
          <Text size="sm" truncate maw="10rem">
            {name}
          </Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {session.organizations.map(({ organization_id: id, name: each, mode, role }) => (
          <Menu.Item
            key={id}
            onClick={() => void choose(id)}
            disabled={id === session.organization_id}
          >
            {each} · {mode ?? 'live'} · {role}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
