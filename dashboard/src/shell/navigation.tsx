import { NavLink, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { Role } from '../../../src/contract/roles.ts'
import { navigation } from './pages.ts'

/** Roles hide nothing: a page that the role may not open is named, and says so when it is opened. */
export const Navigation = ({ role, path }: { role: Role; path: string }) => (
  <Stack component="nav" aria-label="Main" gap={2}>
    {navigation.map(({ label, entries }) => (
      <Stack key={label} gap={2}>
        <Text size="xs" fw={600} mt="xs" px="sm" id={`navigation-${label}`}>
          {label}
        </Text>
        {entries.map((entry) => (
          <NavLink
            key={entry.path}
            component={Link}
            to={entry.path}
            label={entry.label}
            description={entry.anyRole.includes(role) ? undefined : 'For administrators'}
            active={isWithin(path, entry.path)}
            aria-current={isWithin(path, entry.path) ? 'page' : undefined}
            variant="filled"
          />
        ))}
      </Stack>
    ))}
  </Stack>
)

const isWithin = (path: string, section: string): boolean =>
  path === section || path.startsWith(`${section}/`)
