import { Container, Paper, Stack, Text, Title } from '@mantine/core'
import { useEffect, type ReactNode } from 'react'

/** A page outside the shell: sign-in and what leads to it. */
export const FrontPage = ({
  title,
  purpose,
  children,
}: {
  title: string
  purpose?: string
  children: ReactNode
}) => {
  useEffect(() => {
    document.title = `${title} · Outdial`
  }, [title])
  return (
    <Container component="main" size={460} py="xl" px="md">
      <Stack gap="md">
        <Text fw={700} size="lg">
          Outdial
        </Text>
        <Title order={1} size="h2">
          {title}
        </Title>
        {purpose && <Text size="sm">{purpose}</Text>}
        <Paper withBorder p="md">
          {children}
        </Paper>
      </Stack>
    </Container>
  )
}
