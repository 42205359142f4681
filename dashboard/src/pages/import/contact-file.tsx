import { Button, Group, NativeSelect, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { reading } from '../../client/queries.ts'
import { send } from '../../client/send.ts'
import type { AnswerOf, InputOf } from '../../client/table.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { Failure, Loaded } from '../../parts/states.tsx'
import { Counts } from './counts.tsx'
import { RefusedRows, type Fixes } from './refused-rows.tsx'
import { endOfWork, useImportWork } from './import-work.ts'
import { uploadFile } from './upload-file.ts'
import { Working } from './working.tsx'

type File = AnswerOf<'getImport'>
type Check = InputOf<'checkImport'>['body']
export type CheckCounts = NonNullable<AnswerOf<'getImportWork'>['counts']>

interface ContactFileProps {
  readonly purpose: Check['purpose']
  /** The file that was uploaded; it is named in the address. */
  readonly importId: string | undefined
  readonly onUploaded: (importId: string | undefined) => void
  /** What may be done with the file once it was checked. */
  readonly children: (counts: CheckCounts) => ReactNode
}

/** A CSV file: uploaded, its columns named, checked, mended row by row. */
export const ContactFile = ({ purpose, importId, onUploaded, children }: ContactFileProps) =>
  importId === undefined ? (
    <ChooseFile onUploaded={onUploaded} />
  ) : (
    <UploadedFile key={importId} {...{ purpose, importId, onUploaded, children }} />
  )

const ChooseFile = ({ onUploaded }: Pick<ContactFileProps, 'onUploaded'>) => {
  const upload = useMutation({ mutationFn: uploadFile, onSuccess: ({ id }) => onUploaded(id) })
  return (
    <Stack gap="xs" align="flex-start">
      {upload.error && <Failure error={upload.error} />}
      <Text component="label" size="sm" fw={600} htmlFor="contact-file">
        CSV file
      </Text>
      <input
        id="contact-file"
        type="file"
        accept=".csv,.tsv,.txt,text/csv"
        disabled={upload.isPending}
        onChange={({ currentTarget: { files } }) => {
          const [file] = files ?? []
          if (file) upload.mutate(file)
        }}
      />
      <Text size="sm" role="status">
        {upload.isPending
          ? 'The file is being uploaded.'
          : 'With a heading, at most 10 MB and 100,000 rows. Nothing is imported before you say so.'}
      </Text>
    </Stack>
  )
}

type UploadedFileProps = ContactFileProps & { readonly importId: string }

const UploadedFile = ({ purpose, importId, onUploaded, children }: UploadedFileProps) => {
  const result = useQuery(reading('getImport', { params: { import_id: importId } }))
  return (
    <Stack align="flex-start">
      <Button size="xs" variant="default" onClick={() => onUploaded(undefined)}>
        Choose another file
      </Button>
      <Loaded result={result}>{(file) => <CheckedFile {...{ purpose, file, children }} />}</Loaded>
    </Stack>
  )
}

const fields = [
  'external_id',
  'name',
  'first_name',
  'last_name',
  'phone_number',
  'source',
  'email',
  'company',
  'role',
  'city',
  'country',
] as const satisfies readonly Check['mapping'][number][]

const CheckedFile = ({
  purpose,
  file,
  children,
}: Pick<ContactFileProps, 'purpose' | 'children'> & { file: File }) => {
  const [mapping, setMapping] = useState<Check['mapping']>(file.mapping)
  const [country, setCountry] = useState('')
  const [fixes, setFixes] = useState<Fixes>({})
  const check = useImportWork(async (body: Check, tell): Promise<CheckCounts | undefined> => {
    const params = { import_id: file.id }
    const answer = await send('checkImport', { params, body })
    return 'status' in answer ? (await endOfWork(file.id, tell)).counts : answer
  })
  const submit = (): void =>
    check.mutate(
      {
        mapping,
        purpose,
        ...(country !== '' && { country }),
        fixes: Object.entries(fixes).map(([row, cells]) => ({ row: Number(row), cells })),
      },
      { onSuccess: () => setFixes({}) },
    )
  return (
    <Stack w="100%">
      <Text size="sm">
        {file.file_name}: {file.row_count} rows. Name the field of each column: the phone number and
        the name (or its parts) are needed; without an external id the phone number says who a row
        is.
      </Text>
      <DataTable
        label="Columns of the file"
        rows={file.heading.map((name, index) => ({ name, index }))}
        keyOf={({ index }) => String(index)}
        columns={[
          { name: 'Column', cell: ({ name, index }) => name || `Column ${index + 1}` },
          {
            name: 'Field',
            cell: ({ name, index }) => (
              <NativeSelect
                size="xs"
                miw="9rem"
                aria-label={`Field of ${name || `column ${index + 1}`}`}
                value={mapping[index] ?? ''}
                data={[
                  { value: '', label: 'Leave out' },
                  ...fields.map((field) => ({ value: field, label: field.replaceAll('_', ' ') })),
                ]}
                onChange={({ currentTarget: { value } }) =>
                  setMapping(
                    mapping.map((each, at) =>
                      at === index ? (fields.find((field) => field === value) ?? null) : each,
                    ),
                  )
                }
              />
            ),
          },
          {
            name: 'First rows',
            cell: ({ index }) =>
              file.sample
                .slice(0, 3)
                .map((cells) => cells[index] ?? '')
                .filter(Boolean)
                .join(' · ') || '–',
          },
        ]}
      />
      <Group align="flex-end">
        <TextInput
          size="xs"
          label="Country of numbers without +"
          description="Two letters, such as US; empty where all numbers have +"
          maxLength={2}
          value={country}
          onChange={({ currentTarget }) => setCountry(currentTarget.value)}
        />
        <Button size="xs" loading={check.isPending} onClick={submit}>
          {check.data ? 'Check again' : 'Check'}
        </Button>
      </Group>
      {check.error && <Failure error={check.error} />}
      <Working progress={check.progress} what="checked" />
      {check.data && (
        <Stack component="section" aria-labelledby="checked">
          <Title order={2} size="h4" id="checked">
            What would become of it
          </Title>
          <Counts
            figures={{
              Ready: check.data.ready,
              Updated: check.data.updated,
              Duplicate: check.data.duplicate,
              Invalid: check.data.invalid,
            }}
          />
          {check.data.duplicate + check.data.invalid > 0 && (
            <RefusedRows
              file={file}
              mapping={mapping}
              fixes={fixes}
              onFix={setFixes}
              onCheck={submit}
              isChecking={check.isPending}
            />
          )}
          {Object.keys(fixes).length === 0 && children(check.data)}
        </Stack>
      )}
    </Stack>
  )
}
