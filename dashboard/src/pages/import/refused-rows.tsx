import { Button, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { reading } from '../../client/queries.ts'
import { send } from '../../client/send.ts'
import type { AnswerOf, InputOf } from '../../client/table.ts'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { saveText } from '../../parts/save-text.ts'
import { Failure, Loaded } from '../../parts/states.tsx'

type Mapping = InputOf<'checkImport'>['body']['mapping']
type Field = NonNullable<Mapping[number]>
type Row = AnswerOf<'listRefusedRows'>['data'][number]

/** The new text of fields by the row's number. */
export type Fixes = Readonly<Record<number, Readonly<Partial<Record<Field, string>>>>>

interface RefusedRowsProps {
  readonly file: Pick<AnswerOf<'getImport'>, 'id'>
  readonly mapping: Mapping
  readonly fixes: Fixes
  readonly onFix: (fixes: Fixes) => void
  readonly onCheck: () => void
  readonly isChecking: boolean
}

/** The refused rows with their problems, to be mended in place. */
export const RefusedRows = ({
  file,
  mapping,
  fixes,
  onFix,
  onCheck,
  isChecking,
}: RefusedRowsProps) => {
  const result = useQuery(reading('listRefusedRows', { params: { import_id: file.id } }))
  const saving = useMutation({
    mutationFn: () => refusedCsv(file.id),
    onSuccess: (csv) => saveText('rejected.csv', csv, 'text/csv'),
  })
  const named = mapping.filter((field) => field !== null)
  const mend = (row: number, field: Field, text: string): void =>
    onFix({ ...fixes, [row]: { ...fixes[row], [field]: text } })
  return (
    <Stack component="section" aria-labelledby="refused" gap="xs">
      <Group justify="space-between">
        <Title order={3} size="h5" id="refused">
          Refused rows
        </Title>
        <Button
          size="xs"
          variant="default"
          loading={saving.isPending}
          onClick={() => saving.mutate()}
        >
          Download rejected rows
        </Button>
      </Group>
      {saving.error && <Failure error={saving.error} />}
      <Loaded result={result}>
        {({ data, next_after: next }) => (
          <>
            <DataTable
              label="Refused rows"
              columns={[...columns, ...named.map((field) => fieldColumn(field, fixes, mend))]}
              rows={data}
              keyOf={({ row }) => String(row)}
            />
            {next !== null && (
              <Text size="sm">These are the first {data.length}. Mend them to see the others.</Text>
            )}
          </>
        )}
      </Loaded>
      <Group>
        <Button
          size="xs"
          loading={isChecking}
          disabled={Object.keys(fixes).length === 0}
          onClick={onCheck}
        >
          Check the mended rows
        </Button>
      </Group>
    </Stack>
  )
}

const columns: readonly Column<Row>[] = [
  { name: 'Row', cell: ({ row }) => row },
  {
    name: 'Problem',
    cell: ({ problems }) => (
      <Stack gap={2}>
        {problems.map(({ column, code, message }) => (
          <Text key={`${column} ${code}`} size="sm">
            {column === '' ? '' : `${column.replaceAll('_', ' ')}: `}
            {message}
          </Text>
        ))}
      </Stack>
    ),
  },
]

const fieldColumn = (
  field: Field,
  fixes: Fixes,
  mend: (row: number, field: Field, text: string) => void,
): Column<Row> => ({
  name: field.replaceAll('_', ' '),
  cell: ({ row, cells, problems }) => (
    <TextInput
      size="xs"
      miw="9rem"
      aria-label={`${field.replaceAll('_', ' ')} of row ${row}`}
      value={fixes[row]?.[field] ?? cells[field] ?? ''}
      error={problems.some(({ column }) => column === field)}
      onChange={({ currentTarget }) => mend(row, field, currentTarget.value)}
    />
  ),
})

/** Every refused row as it stands in the file, page by page. */
const refusedCsv = async (importId: string): Promise<string> => {
  const pages: string[] = []
  let after: number | null = 0
  while (after !== null) {
    const page: AnswerOf<'exportRefusedRows'> = await send('exportRefusedRows', {
      params: { import_id: importId },
      query: { after: String(after) },
    })
    pages.push(page.csv)
    after = page.next_after
  }
  return pages.join('')
}
