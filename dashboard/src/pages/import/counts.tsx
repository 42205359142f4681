import { SimpleGrid, Text } from '@mantine/core'

/** Named figures side by side. */
export const Counts = ({ figures }: { figures: Readonly<Record<string, number>> }) => (
  <SimpleGrid component="dl" cols={{ base: 2, xs: 3, md: 6 }} m={0} w="100%" spacing="xs">
    {Object.entries(figures).map(([name, figure]) => (
      <div key={name}>
        <Text component="dt" size="sm">
          {name}
        </Text>
        <Text component="dd" fw={700} size="lg" m={0}>
          {figure}
        </Text>
      </div>
    ))}
  </SimpleGrid>
)
