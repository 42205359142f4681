import { Button, Menu, useMantineColorScheme, type MantineColorScheme } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { send } from '../client/send.ts'
import { forgetOrganization } from '../client/window-organization.ts'
import type { Session } from '../client/session.ts'

const schemes: readonly { readonly value: MantineColorScheme; readonly label: string }[] = [
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
  { value: 'auto', label: 'As the system' },
]

export const AccountMenu = ({ session }: { session: Session }) => {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const signOut = async (): Promise<void> => {
    await send('signOut', {})
    queries.clear()
    forgetOrganization()
    await navigate({ to: '/login' })
  }
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <Button
          variant="default"
          size="xs"
          aria-label={`${initialsOf(session.account.name)}, account of ${session.account.name}`}
        >
          {initialsOf(session.account.name)}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {session.account.email} · {session.role}
        </Menu.Label>
        <Menu.Item component={Link} to="/account">
          Your account
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>Theme</Menu.Label>
        {schemes.map(({ value, label }) => (
          <Menu.Item
            key={value}
            onClick={() => setColorScheme(value)}
            role="menuitemradio"
            aria-checked={colorScheme === value}
          >
            {label}
            {colorScheme === value && ' ✓'}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => void signOut()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

const initialsOf = (name: string): string =>
  name
    .trim()
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, 2)
    .map((word) => String.fromCodePoint(word.codePointAt(0) ?? 0).toUpperCase())
    .join('')
