import { Checkbox, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { reading } from '../client/queries.ts'
import { useSession } from '../client/session.ts'
import { atLeast } from '../../../src/contract/roles.ts'
import { itemsOf, withMember, type AgentFile } from './agent-file.ts'
import type { AgentFieldsProps } from './agent-fields.tsx'

/** The numbers that callees of this agent may see: those of the organization, and those that the file names. */
export const CallerIdsField = ({ file, problems, isReadOnly, onChange }: AgentFieldsProps) => {
  const { role } = useSession()
  const numbers = useQuery({
    ...reading('listNumbers', {}),
    enabled: atLeast('operator').includes(role),
  })
  const chosen = itemsOf(file, 'caller_ids').map(String)
  const known = (numbers.data?.data ?? []).map(({ phone_number: number }) => number)
  const all = [...new Set([...known, ...chosen])]
  return (
    <Checkbox.Group
      label="Numbers that callees see"
      description="None chosen: any number of the organization."
      value={chosen}
      error={problemOf(problems)}
      readOnly={isReadOnly}
      onChange={(next) => onChange(withCallerIds(file, all, next))}
    >
      <Stack gap="xs" mt="xs" className="long-choice">
        {all.map((number) => (
          <Checkbox key={number} value={number} label={number} disabled={isReadOnly} />
        ))}
        {all.length === 0 && !numbers.isPending && (
          <Text size="sm">
            The organization has no number yet: callees see the one of the installation.
          </Text>
        )}
      </Stack>
    </Checkbox.Group>
  )
}

const problemOf = (problems: AgentFieldsProps['problems']): string | undefined =>
  problems.find(({ path }) => /^caller_ids(?:\[\d+\])?$/.test(path))?.message

/** In the order of the list, so that a number chosen again changes nothing. */
const withCallerIds = (
  file: AgentFile,
  all: readonly string[],
  chosen: readonly string[],
): AgentFile =>
  withMember(
    file,
    'caller_ids',
    chosen.length === 0 ? undefined : all.filter((number) => chosen.includes(number)),
  )
