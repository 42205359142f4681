import { AppShell, Badge, Burger, Group, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useChanges } from '../client/changes.ts'
import { sessionReading, type Session } from '../client/session.ts'
import { browserZone, ZoneContext } from '../parts/instant.tsx'
import { Loaded } from '../parts/states.tsx'
import { AccountMenu } from './account-menu.tsx'
import { Navigation } from './navigation.tsx'
import { OrganizationNotice } from './organization-notice.tsx'
import { OrganizationSwitch } from './organization-switch.tsx'
import { PageFault } from './page-fault.tsx'
import { ReloadNotice } from './reload-notice.tsx'
import { PaletteButton } from './palette-button.tsx'

/** The frame of every page that needs a sign-in. */
export const Shell = () => {
  const session = useQuery(sessionReading)
  return (
    <Loaded result={session}>
      {(known) => (
        <ZoneContext value={organizationOf(known)?.time_zone ?? browserZone}>
          <Frame session={known} />
        </ZoneContext>
      )}
    </Loaded>
  )
}

const organizationOf = ({ organizations, organization_id: id }: Session) =>
  organizations.find(({ organization_id: each }) => each === id)

const Frame = ({ session }: { session: Session }) => {
  useChanges(session)
  const [isOpen, { toggle, close }] = useDisclosure()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  useEffect(close, [path, close])
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 224, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <a className="skip-link" href="#main">
        Skip to content
      </a>
      <AppShell.Header>
        <Group h="100%" px="sm" justify="space-between" wrap="nowrap" gap="xs">
          <Group gap="xs" wrap="nowrap" miw={0}>
            <Burger
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={isOpen ? 'Close the menu' : 'Open the menu'}
              aria-expanded={isOpen}
            />
            <Text fw={700} size="lg" visibleFrom="xs">
              Outdial
            </Text>
            <OrganizationSwitch session={session} />
            <ModeBadge session={session} />
          </Group>
          <Group gap="xs" wrap="nowrap">
            <PaletteButton role={session.role} />
            <AccountMenu session={session} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs">
        <Navigation role={session.role} path={path} />
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        <OrganizationNotice name={organizationOf(session)?.name ?? 'another organization'} />
        <ReloadNotice />
        <PageFault key={`${session.organization_id} ${path}`}>
          <Outlet />
        </PageFault>
      </AppShell.Main>
    </AppShell>
  )
}

/** On every page: calls of a sandbox organization ring no phone. */
const ModeBadge = ({ session }: { session: Session }) => {
  if (organizationOf(session)?.mode !== 'sandbox') return null
  return (
    <Badge
      color="grape.9"
      tt="none"
      variant="filled"
      autoContrast={false}
      className="mode-badge"
      title="Calls of this organization go to the sandbox carrier and ring no phone."
    >
      Sandbox
    </Badge>
  )
}
