import { Button, Code, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { reading } from '../../client/queries.ts'
import type { AnswerOf } from '../../client/table.ts'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { Instant } from '../../parts/instant.tsx'
import { Loaded } from '../../parts/states.tsx'
import { differencesOf, type Difference } from './differences.ts'
import type { Members } from './draft.ts'

type Version = AnswerOf<'listAutomationVersions'>['data'][number]

interface VersionsProps {
  readonly automationId: string
  readonly published: number
  /** What stands in the editor. */
  readonly draft: Members
  /** The version that is compared; it stands in the address. */
  readonly compared: number | undefined
  readonly onCompare: (version: number) => void
  readonly onRestore: (version: number, definition: Members) => void
  readonly isReadOnly: boolean
}

/** What was published before, and how it differs from what stands in the editor. */
export const Versions = (properties: VersionsProps) => {
  const { automationId, published, compared, onCompare } = properties
  const params = { automation_id: automationId }
  const result = useQuery(reading('listAutomationVersions', { params }))
  return (
    <Loaded result={result}>
      {({ data }) => {
        const shown = compared ?? (data.length > 1 ? published - 1 : published)
        return (
          <Stack>
            <DataTable
              label="Versions"
              columns={columnsOf(published)}
              rows={data}
              keyOf={({ version }) => String(version)}
            />
            <NativeSelect
              label="Compare with what stands in the editor"
              maw="24rem"
              value={String(shown)}
              data={data.map(({ version }) => ({
                value: String(version),
                label: `Version ${version}${version === published ? ', published' : ''}`,
              }))}
              onChange={({ currentTarget }) => onCompare(Number(currentTarget.value))}
            />
            <Comparison {...properties} version={shown} />
          </Stack>
        )
      }}
    </Loaded>
  )
}

const columnsOf = (published: number): readonly Column<Version>[] => [
  {
    name: 'Version',
    cell: ({ version }) => `${version}${version === published ? ', for new runs' : ''}`,
  },
  { name: 'Published', cell: ({ created_at: at }) => <Instant at={at} /> },
]

const Comparison = ({
  automationId,
  version,
  draft,
  onRestore,
  isReadOnly,
}: VersionsProps & { version: number }) => {
  const params = { automation_id: automationId }
  const result = useQuery(reading('getAutomation', { params, query: { version: String(version) } }))
  return (
    <Loaded result={result}>
      {({ definition }) => {
        const differences = differencesOf(definition, draft)
        return (
          <Stack gap="xs">
            {differences.length === 0 ? (
              <Text size="sm">The editor has what version {version} has.</Text>
            ) : (
              <DataTable
                label={`Differences from version ${version}`}
                columns={differenceColumns(version)}
                rows={differences}
                keyOf={({ path }) => path}
              />
            )}
            <Group>
              <Button
                variant="default"
                size="xs"
                disabled={isReadOnly || differences.length === 0}
                onClick={() => onRestore(version, definition)}
              >
                Edit version {version} again
              </Button>
            </Group>
          </Stack>
        )
      }}
    </Loaded>
  )
}

const differenceColumns = (version: number): readonly Column<Difference>[] => [
  { name: 'Where', cell: ({ path }) => <Code>{path}</Code> },
  { name: `Version ${version}`, cell: ({ before }) => <Value value={before} /> },
  { name: 'Editor', cell: ({ after }) => <Value value={after} /> },
]

const Value = ({ value }: { value: unknown }) =>
  value === undefined ? (
    <>–</>
  ) : (
    <Code style={{ overflowWrap: 'anywhere' }}>{JSON.stringify(value)}</Code>
  )
