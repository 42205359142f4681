import {
  Button,
  Group,
  NativeSelect,
  Paper,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { RequestFailure } from '../../client/failure.ts'
import { send } from '../../client/send.ts'
import type { AnswerOf, InputOf } from '../../client/table.ts'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { Instant } from '../../parts/instant.tsx'
import { Failure, Loading } from '../../parts/states.tsx'
import { ContactChoice } from '../../parts/contact-choice.tsx'
import type { Members } from './draft.ts'

type Simulated = AnswerOf<'simulateAutomation'>
type Entry = Simulated['entries'][number]

const answerWords = ['answered', 'no_answer', 'busy', 'voicemail', 'failed', 'cancelled'] as const

interface Answer {
  readonly word: string
  readonly outcome: string
}

/** As many as the service takes. */
const maxAnswers = 50
const exampleNumber = '+12025550100'

/** What a run would do, and when, for the calls' ends that are chosen; no call is made. */
export const SimulationPanel = ({ definition }: { definition: Members }) => {
  const [contactId, setContactId] = useState('')
  const [number, setNumber] = useState(exampleNumber)
  const [startsAt, setStartsAt] = useState('')
  const [answers, setAnswers] = useState<readonly Answer[]>([{ word: 'answered', outcome: '' }])
  const body = {
    definition,
    ...(contactId === '' ? { phone_number: number } : { contact_id: contactId }),
    answers: answers.map(({ word, outcome }) => (outcome === '' ? word : `${word}:${outcome}`)),
    ...(startsAt !== '' && { starts_at: instantOf(startsAt) }),
  }
  const result = useSimulation(body)
  return (
    <Paper withBorder p="md" component="section" aria-labelledby="simulation">
      <Stack>
        <Title order={2} size="h4" id="simulation">
          Simulation
        </Title>
        <SimpleGrid cols={{ base: 1, sm: 2, md: 3 }}>
          <ContactChoice value={contactId} none="Someone at this number:" onChange={setContactId} />
          {contactId === '' && (
            <TextInput
              label="Number"
              description="Its country and area give the time zone."
              value={number}
              onChange={({ currentTarget }) => setNumber(currentTarget.value.trim())}
            />
          )}
          <TextInput
            type="datetime-local"
            label="Starts at"
            description="In the zone of this browser; empty means now."
            value={startsAt}
            onChange={({ currentTarget }) => setStartsAt(currentTarget.value)}
          />
        </SimpleGrid>
        <Answers answers={answers} onChange={setAnswers} />
        {result.error ? (
          <Failure error={result.error} />
        ) : result.data ? (
          <Path run={result.data} />
        ) : (
          <Loading />
        )}
      </Stack>
    </Paper>
  )
}

/** A simulation is kept as long as it is shown. */
const keptMs = 10_000

const useSimulation = (body: NonNullable<InputOf<'simulateAutomation'>['body']>) =>
  useQuery<Simulated, RequestFailure>({
    queryKey: ['simulateAutomation', body],
    queryFn: ({ signal }) => send('simulateAutomation', { body }, { signal }),
    placeholderData: keepPreviousData,
    gcTime: keptMs,
  })

const instantOf = (local: string): string => {
  const at = new Date(local)
  return Number.isNaN(at.getTime()) ? local : at.toISOString()
}

const Answers = ({
  answers,
  onChange,
}: {
  answers: readonly Answer[]
  onChange: (answers: readonly Answer[]) => void
}) => (
  <Stack gap="xs" component="section" aria-label="How the calls end">
    {answers.map((answer, at) => (
      <Group key={`call ${at}`} align="flex-end" gap="xs">
        <NativeSelect
          label={`Call ${at + 1} ends`}
          value={answer.word}
          data={answerWords.map((word) => ({ value: word, label: word.replaceAll('_', ' ') }))}
          onChange={({ currentTarget }) =>
            onChange(answers.with(at, { ...answer, word: currentTarget.value }))
          }
        />
        <TextInput
          label={`Outcome ${at + 1}`}
          placeholder="achieved"
          value={answer.outcome}
          onChange={({ currentTarget }) =>
            onChange(answers.with(at, { ...answer, outcome: currentTarget.value.trim() }))
          }
        />
        <Button
          size="xs"
          variant="default"
          disabled={answers.length === 1}
          aria-label={`Remove call ${at + 1}`}
          onClick={() => onChange(answers.toSpliced(at, 1))}
        >
          Remove
        </Button>
      </Group>
    ))}
    <Group>
      <Button
        size="xs"
        variant="default"
        disabled={answers.length >= maxAnswers}
        onClick={() => onChange([...answers, { word: 'answered', outcome: '' }])}
      >
        Add call
      </Button>
      <Text size="sm">Further calls end as the last one does.</Text>
    </Group>
  </Stack>
)

const Path = ({ run }: { run: Simulated }) => (
  <Stack gap="xs">
    <Text role="status" size="sm">
      The run ends {run.status}
      {run.failure_code !== undefined && ` (${run.failure_code})`} at <Instant at={run.ended_at} />{' '}
      after {run.calls} {run.calls === 1 ? 'call' : 'calls'}. Local time is that of{' '}
      {run.time_zones.join(', ')}.
    </Text>
    <Text size="sm">
      <Text span fw={600} inherit>
        Path:
      </Text>{' '}
      {pathOf(run.entries).join(' → ')}
    </Text>
    <DataTable
      label="Simulated run"
      columns={columns}
      rows={run.entries.map((entry, at) => ({ ...entry, place: at }))}
      keyOf={({ place }) => String(place)}
    />
  </Stack>
)

/** The steps in the order in which they are entered. */
const pathOf = (entries: readonly Entry[]): readonly string[] =>
  entries.flatMap(({ move, step, to }) =>
    move === 'start' ? (step ?? []) : move === 'move' ? (to ?? []) : [],
  )

const columns: readonly Column<Entry & { readonly place: number }>[] = [
  { name: 'Local time', cell: ({ local_time: time }) => time },
  { name: 'At', cell: ({ at }) => <Instant at={at} /> },
  { name: 'Step', cell: ({ step }) => step ?? '–' },
  { name: 'Move', cell: moveText },
  { name: 'Why', cell: ({ reason }) => reason },
]

function moveText({ move, to, call, at, until_local_time: until }: Entry): string {
  if (call) {
    const words = [call.answer_status, call.outcome].filter(Boolean).join(', ').replaceAll('_', ' ')
    return call.dialled_at === at ? `call: ${words}` : `call, dialled later: ${words}`
  }
  if (to !== undefined) return `to ${to}`
  return [move.replaceAll('_', ' '), until && `until ${until}`].filter(Boolean).join(' ')
}
