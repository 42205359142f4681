import { Text } from '@mantine/core'
import { AnchorLink } from '../parts/anchor-link.tsx'
import { FrontPage } from '../parts/front-page.tsx'

export const NotFound = () => (
  <FrontPage title="There is no such page">
    <Text size="sm">
      The address leads nowhere. <AnchorLink to="/">Go to the first page</AnchorLink>
    </Text>
  </FrontPage>
)
