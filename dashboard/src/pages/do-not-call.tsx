import { Alert, Button, FileInput, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { reading, useChange } from '../client/queries.ts'
import { send } from '../client/send.ts'
import type { AnswerOf } from '../client/table.ts'
import { ConfirmButton } from '../parts/confirm-button.tsx'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { valuesOf } from '../parts/fields.ts'
import { Instant } from '../parts/instant.tsx'
import { PageLinks } from '../parts/page-links.tsx'
import { Empty, Failure, Loaded } from '../parts/states.tsx'
import { numbersOfFile, type FileNumbers } from './numbers-of-file.ts'

type Entry = AnswerOf<'listDoNotCall'>['data'][number]

/** Numbers that are never called. */
export const DoNotCallList = () => {
  const { digits, after } = useSearch({ from: '/shell/settings/policy' })
  const navigate = useNavigate({ from: '/settings/policy' })
  const query = {
    ...(digits !== undefined && /^\+?[0-9]{1,15}$/.test(digits) && { digits }),
    ...(after !== undefined && { after }),
  }
  const result = useQuery(reading('listDoNotCall', { query }))
  return (
    <Stack component="section" aria-labelledby="do-not-call" gap="xs">
      <Title order={2} size="h4" id="do-not-call">
        Do-not-call list
      </Title>
      <Text size="sm">
        These numbers are never called, whatever asks for it. Who asks on a call not to be called
        again is put on it at once.
      </Text>
      <Group align="flex-end">
        <TextInput
          label="Find"
          placeholder="+1202"
          value={digits ?? ''}
          onChange={({ currentTarget: { value } }) =>
            void navigate({ search: { digits: value === '' ? undefined : value }, replace: true })
          }
        />
        <AddNumber />
        <ImportNumbers />
      </Group>
      <Loaded result={result}>
        {({ data, next_after: next }) =>
          data.length === 0 ? (
            <Empty
              what={digits === undefined ? 'The list is empty.' : 'No number begins with this.'}
              command="./outdial dnc add +12025550100 --org ORG"
            />
          ) : (
            <>
              <DataTable
                label="Do-not-call list"
                columns={columns}
                rows={data}
                keyOf={({ phone_number: number }) => number}
              />
              <PageLinks
                isFirst={after === undefined}
                onNewest={() => void navigate({ search: { digits } })}
                onOlder={
                  next === null
                    ? undefined
                    : () => void navigate({ search: { digits, after: next } })
                }
              />
            </>
          )
        }
      </Loaded>
    </Stack>
  )
}

const columns: readonly Column<Entry>[] = [
  { name: 'Number', cell: ({ phone_number: number }) => number },
  { name: 'By', cell: ({ origin }) => (origin === 'opt_out' ? 'the callee' : 'an operator') },
  { name: 'Since', cell: ({ created_at: at }) => <Instant at={at} /> },
  { name: 'Actions', cell: (entry) => <RemoveNumber number={entry.phone_number} /> },
]

const RemoveNumber = ({ number }: { number: string }) => {
  const remove = useChange('removeDoNotCall')
  return (
    <ConfirmButton
      label="Remove"
      accessibleName={`Remove ${number}`}
      consequence="This number may be called again from now on."
      onConfirm={() => remove.mutateAsync({ body: { phone_number: number } })}
    />
  )
}

const AddNumber = () => {
  const add = useChange('addDoNotCall')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const form = event.currentTarget
        const { number } = valuesOf(form, 'number')
        add.mutate(
          { body: { phone_number: number.replace(/[\s().-]/g, '') } },
          { onSuccess: () => form.reset() },
        )
      }}
    >
      <Group align="flex-end" gap="xs">
        <TextInput
          label="Number"
          name="number"
          placeholder="+12025550100"
          required
          withAsterisk={false}
          error={add.error && 'It must be a whole number such as +12025550100.'}
        />
        <Button type="submit" variant="default" loading={add.isPending}>
          Add
        </Button>
      </Group>
    </form>
  )
}

/** The service takes so many numbers in one request. */
const numbersAtOnce = 5_000
/** Lines that are named; the others are counted. */
const namedLines = 20

const ImportNumbers = () => {
  const queries = useQueryClient()
  const [file, setFile] = useState<File | null>(null)
  const load = useMutation({
    mutationFn: async (chosen: File) => importAll(await numbersOfFile(chosen)),
    onSettled: () => queries.invalidateQueries(),
  })
  return (
    <Group align="flex-end" gap="xs">
      <FileInput
        label="File of numbers"
        placeholder="One number a line"
        accept=".csv,.txt,text/plain,text/csv"
        value={file}
        onChange={setFile}
        clearable
        clearButtonProps={{ 'aria-label': 'Choose no file' }}
        w="14rem"
      />
      <Button
        variant="default"
        disabled={file === null}
        loading={load.isPending}
        onClick={() => file && load.mutate(file)}
      >
        Import
      </Button>
      {load.error && <Failure error={load.error} />}
      {load.data && <Imported done={load.data} />}
    </Group>
  )
}

interface Done {
  readonly added: number
  readonly known: number
  readonly lines: readonly number[]
  readonly refused: string | undefined
}

const importAll = async ({ numbers, refused }: FileNumbers): Promise<Done> => {
  const done = { added: 0, known: 0, lines: [] as number[], refused }
  for (let at = 0; at < numbers.length; at += numbersAtOnce) {
    const part = numbers.slice(at, at + numbersAtOnce)
    const body = { phone_numbers: part.map(({ text }) => text) }
    const answer = await send('importDoNotCall', { body })
    done.added += answer.added
    done.known += answer.known
    done.lines.push(...answer.invalid.map((index) => part[index]?.line ?? 0))
  }
  return done
}

const Imported = ({ done: { added, known, lines, refused } }: { done: Done }) => (
  <Alert role="status" variant="outline" title="Import">
    <Text size="sm">
      {refused ??
        `${added} added, ${known} were on the list or came twice, ${lines.length} are no numbers${
          lines.length === 0 ? '' : ` (lines ${lines.slice(0, namedLines).join(', ')})`
        }.`}
    </Text>
  </Alert>
)
