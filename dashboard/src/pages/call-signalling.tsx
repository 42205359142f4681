import '@mantine/core/styles/Accordion.css'
import { Accordion, Code, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { reading } from '../client/queries.ts'
import type { AnswerOf } from '../client/table.ts'
import { Instant } from '../parts/instant.tsx'
import { Loaded } from '../parts/states.tsx'

type Attempt = AnswerOf<'getCallTrace'>['attempts'][number]

interface CallSignallingProps {
  readonly callId: string
  readonly endedAt: string | undefined
}

const refreshMs = 2_000
/** The last messages of a call are stored right after its end. */
const lastWordsMs = 10_000

const isOver = (endedAt: string | undefined): boolean =>
  endedAt !== undefined && Date.now() - Date.parse(endedAt) > lastWordsMs

/** The SIP messages of every attempt, in order, each with its text. */
export const CallSignalling = ({ callId, endedAt }: CallSignallingProps) => {
  const result = useQuery({
    ...reading('getCallTrace', { params: { call_id: callId } }),
    refetchInterval: () => (isOver(endedAt) ? false : refreshMs),
  })
  return (
    <Stack component="section" aria-labelledby="signalling" gap="xs">
      <Title order={2} size="h4" id="signalling">
        SIP messages
      </Title>
      <Loaded result={result}>
        {({ attempts }) =>
          attempts.length === 0 ? (
            <Text size="sm">
              There are none: it was not dialled yet, or longer ago than 30 days.
            </Text>
          ) : (
            <Stack gap="sm">
              {attempts.map((attempt) => (
                <AttemptMessages key={attempt.attempt} attempt={attempt} />
              ))}
            </Stack>
          )
        }
      </Loaded>
    </Stack>
  )
}

const AttemptMessages = ({ attempt: { attempt, messages, omitted } }: { attempt: Attempt }) => (
  <Stack gap={4}>
    <Text size="sm">
      Attempt {attempt}
      {messages[0] && (
        <>
          , <Instant at={messages[0].at} />
          {messages[0].remote && `, ${messages[0].local} to ${messages[0].remote}`} by{' '}
          {messages[0].protocol.toUpperCase()}
        </>
      )}
      {omitted > 0 && `; ${omitted} messages in between were not kept`}
    </Text>
    <Accordion multiple variant="contained" order={3}>
      {messages.map((message, index) => (
        <Accordion.Item key={`${message.at} ${index}`} value={String(index)}>
          <Accordion.Control>
            <Text size="sm" ff="monospace" className="signalling-title">
              {message.direction === 'sent' ? '→' : '←'} {message.title}
            </Text>
          </Accordion.Control>
          <Accordion.Panel>
            <Text size="sm">
              <Instant at={message.at} />
            </Text>
            {message.message === undefined ? (
              <Text size="sm">Its text is for the administrators of this installation.</Text>
            ) : (
              <Code block component="pre" className="command" tabIndex={0}>
                {message.message}
              </Code>
            )}
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  </Stack>
)
