import { Button, Checkbox, Group, Stack, Table, Text, TextInput, Title } from '@mantine/core'
import { useRef, useState } from 'react'

/** As the policy's file has it. */
export interface Holiday {
  readonly date: string
  readonly name?: string
  readonly every_year?: boolean
}

interface HolidaysProps {
  readonly holidays: readonly Holiday[]
  readonly onChange: (holidays: readonly Holiday[]) => void
  readonly isReadOnly: boolean
}

/** Days of the callee's calendar on which nobody is called. */
export const Holidays = ({ holidays, onChange, isReadOnly }: HolidaysProps) => (
  <Stack gap="xs" component="section" aria-labelledby="holidays">
    <Title order={2} size="h4" id="holidays">
      Holidays
    </Title>
    <Text size="sm">
      Nobody is called on these days, from midnight to midnight where the callee is. Calls wait for
      the next open hour after them.
    </Text>
    {holidays.length === 0 ? (
      <Text size="sm">There are none.</Text>
    ) : (
      <div className="wide">
        <Table maw="40rem" aria-label="Holidays">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Date</Table.Th>
              <Table.Th scope="col">Name</Table.Th>
              <Table.Th scope="col">Comes</Table.Th>
              {!isReadOnly && <Table.Th scope="col">Change</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {holidays.toSorted(byDate).map((holiday) => (
              <Table.Tr key={keyOf(holiday)}>
                <Table.Td>{holiday.every_year ? holiday.date.slice(5) : holiday.date}</Table.Td>
                <Table.Td>{holiday.name ?? ''}</Table.Td>
                <Table.Td>{holiday.every_year ? 'every year' : 'once'}</Table.Td>
                {!isReadOnly && (
                  <Table.Td>
                    <Button
                      size="compact-sm"
                      variant="default"
                      aria-label={`Remove ${holiday.name ?? holiday.date}`}
                      onClick={() =>
                        onChange(holidays.filter((each) => keyOf(each) !== keyOf(holiday)))
                      }
                    >
                      Remove
                    </Button>
                  </Table.Td>
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
    )}
    {!isReadOnly && (
      <AddHoliday holidays={holidays} onAdd={(added) => onChange([...holidays, added])} />
    )}
  </Stack>
)

interface AddHolidayProps {
  readonly holidays: readonly Holiday[]
  readonly onAdd: (holiday: Holiday) => void
}

const AddHoliday = ({ holidays, onAdd }: AddHolidayProps) => {
  const [date, setDate] = useState('')
  const [name, setName] = useState('')
  const [isYearly, setYearly] = useState(false)
  const [problem, setProblem] = useState<string>()
  const first = useRef<HTMLInputElement>(null)
  const add = (): void => {
    const label = name.trim()
    const holiday: Holiday = {
      date,
      ...(label !== '' && { name: label }),
      ...(isYearly && { every_year: true }),
    }
    if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) return setProblem('Choose a date.')
    if (holidays.some((each) => keyOf(each) === keyOf(holiday)))
      return setProblem('This day is in the list already.')
    onAdd(holiday)
    setDate('')
    setName('')
    setYearly(false)
    setProblem(undefined)
    first.current?.focus()
  }
  // Enter adds the day; it does not save the policy around it.
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.key !== 'Enter') return
    event.preventDefault()
    add()
  }
  return (
    <Group align="end" gap="sm">
      <TextInput
        ref={first}
        type="date"
        label="Day"
        value={date}
        error={problem}
        onKeyDown={onKeyDown}
        onChange={({ currentTarget }) => setDate(currentTarget.value)}
      />
      <TextInput
        label="Name of the day"
        placeholder="Christmas Day"
        maxLength={100}
        value={name}
        onKeyDown={onKeyDown}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <Checkbox
        label="Every year"
        mb="xs"
        checked={isYearly}
        onChange={({ currentTarget }) => setYearly(currentTarget.checked)}
      />
      <Button variant="default" onClick={add}>
        Add holiday
      </Button>
    </Group>
  )
}

const keyOf = ({ date, every_year: isYearly }: Holiday): string => (isYearly ? date.slice(5) : date)

const byDate = (left: Holiday, right: Holiday): number => left.date.localeCompare(right.date)
