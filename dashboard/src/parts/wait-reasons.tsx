import { Alert, Stack, Text } from '@mantine/core'
import type { AnswerOf } from '../client/table.ts'
import { Instant } from './instant.tsx'

/** Why it waits: each reason with its figures, and the instant it clears where that is known. */
export const WaitReasons = ({ reasons }: { reasons: AnswerOf<'getCall'>['reasons'] }) =>
  reasons.length === 0 ? null : (
    <Alert variant="outline" color="indigo" title="Why is it waiting?">
      <Stack gap={4}>
        {reasons.map(({ code, message, until }) => (
          <Text key={code} size="sm">
            {message}
            {until !== undefined && (
              <>
                {' '}
                Until <Instant at={until} />.
              </>
            )}
          </Text>
        ))}
      </Stack>
    </Alert>
  )
