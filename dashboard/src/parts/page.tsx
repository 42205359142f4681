import { Group, Stack, Text, Title } from '@mantine/core'
import { useEffect, useRef, type ReactNode } from 'react'

interface PageProps {
  readonly title: string
  /** One sentence: what this page is for. */
  readonly purpose?: string
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** A page's frame: its one heading, which takes the focus when the page is opened, and the document's title. */
export const Page = ({ title, purpose, actions, children }: PageProps) => {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Outdial`
  }, [title])
  useEffect(() => {
    heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <Stack className="page" gap="md">
      <Group justify="space-between" align="flex-start">
        <div>
          <Title order={1} size="h2" ref={heading} tabIndex={-1}>
            {title}
          </Title>
          {purpose && (
            <Text size="sm" maw="60rem">
              {purpose}
            </Text>
          )}
        </div>
        {actions && <Group gap="xs">{actions}</Group>}
      </Group>
      {children}
    </Stack>
  )
}
